"""Pokémon Showdown as a library.

A battle runs in the Node host (``host/``) that `Simulator` speaks to; `BattleTracker` reads what it delivers. Around
it: the install of the pinned package, formats, teams, and real servers for those who need a websocket.
"""
