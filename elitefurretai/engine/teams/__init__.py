"""Teams, all legal in their format: from a folder of PokePaste files, built in, or generated."""

from elitefurretai.engine.teams.pool import RejectedTeam, Team, TeamPool

__all__ = ["RejectedTeam", "Team", "TeamPool"]
