from __future__ import annotations

import dataclasses

import pytest

from elitefurretai.engine import formats
from elitefurretai.engine.errors import FormatError
from elitefurretai.engine.formats import DEFAULT_FORMAT, PROVEN_FORMATS, doubles_formats, resolve_format


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (DEFAULT_FORMAT, "gen9vgc2023regc"),
        ("gen9vgc2023regulationd", "gen9vgc2023regd"),
        ("[Gen 9] VGC 2024 Reg G", "gen9vgc2024regg"),
        ("GEN8VGC2022", "gen8vgc2022"),
        ("gen9championsvgc2026regulationma", "gen9championsvgc2026regma"),
    ],
)
def test_names_as_people_type_them_are_resolved(typed: str, meant: str) -> None:
    assert resolve_format(typed).id == meant


def test_an_unknown_format_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(FormatError, match="there is no format 'gen9vgc2023regcc'; did you mean gen9vgc2023regc"):
        resolve_format("gen9vgc2023regcc")
    with pytest.raises(FormatError, match="did you mean gen9vgc2023regc"):
        resolve_format("")


def test_a_format_that_is_not_doubles_is_called_so() -> None:
    with pytest.raises(FormatError, match="'gen9ou' is not a two-player doubles format"):
        resolve_format("gen9ou")


def test_the_rules_of_a_format_are_showdowns() -> None:
    regulation_c = resolve_format("gen9vgc2023regc")
    assert (regulation_c.gen, regulation_c.bring, regulation_c.brought) == (9, 4, 4)
    assert regulation_c.gimmicks == ("terastallize",)
    assert regulation_c.open_team_sheets == "optional"
    doubles_ou = resolve_format("gen9doublesou")
    assert (doubles_ou.bring, doubles_ou.brought, doubles_ou.team_preview) == (None, 6, True)
    assert resolve_format("gen9championsvgc2026regmb").gimmicks == ("mega",)
    assert resolve_format("gen8vgc2022").gimmicks == ("dynamax",)
    assert resolve_format("gen9randomdoublesbattle").random_teams
    assert resolve_format("gen9championsvgc2026regmbbo3").open_team_sheets == "forced"


def test_a_format_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        resolve_format("gen9doublesou").gen = 8  # type: ignore[misc]


def test_all_proven_formats_exist() -> None:
    assert set(PROVEN_FORMATS) <= {spec.id for spec in doubles_formats()}


def test_the_stored_facts_are_those_of_the_installed_showdown() -> None:
    assert formats.main([]) == 0
