"""The fast path against stock Showdown. The wide comparison, over 500 battles, is ``benchmarks.simulator``."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from elitefurretai.engine.autoplay import play
from elitefurretai.engine.formats import PROVEN_FORMATS
from elitefurretai.engine.host import HOST_SCRIPT
from elitefurretai.engine.install import ensure_showdown, verify_showdown
from elitefurretai.engine.node import node_binary
from elitefurretai.engine.simulator import Simulator
from unit_tests.engine.conftest import MakeSpec

HOST_FOLDER = HOST_SCRIPT.parent


def run_node(program: str) -> str:
    """What a Node program prints; ``root`` and ``host`` are the Showdown package and our folder."""
    prelude = f"const root = {json.dumps(str(ensure_showdown()))}, host = {json.dumps(str(HOST_FOLDER))};\n"
    outcome = subprocess.run(
        [str(node_binary()), "-e", prelude + program], capture_output=True, text=True, check=False, timeout=60
    )
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def battle_texts(make_spec: MakeSpec, battles: int, *, fast: bool) -> list[tuple[object, ...]]:
    specs = [make_spec(format_id, seed=seed, record=True) for seed in range(battles) for format_id in PROVEN_FORMATS]
    with Simulator(fast=fast) as simulator:
        assert simulator.host.warnings == []
        played = sorted(play(simulator, specs), key=lambda battle: (battle.spec.format, battle.spec.seed))
    return [
        (
            battle.spec.format,
            battle.result.winner,
            battle.result.input_log,
            [line for line in battle.result.log if not line.startswith("|t:|")],
        )
        for battle in played
    ]


def test_logs_and_choices_are_those_of_stock_showdown_in_every_proven_format(make_spec: MakeSpec) -> None:
    # The choices follow from the requests, so equal input logs also mean equal requests.
    assert battle_texts(make_spec, 4, fast=True) == battle_texts(make_spec, 4, fast=False)


def test_a_function_that_is_not_the_known_one_leaves_its_part_off_with_a_warning() -> None:
    printed = run_node(
        """
        const {load} = require(host + '/simulator.js');
        const {classes} = load(root, {lean: true, fast: false});
        const stock = classes.Battle.prototype.runEvent;
        classes.Battle.prototype.getCallback = function changed() {};
        const warnings = require(host + '/fast').install(classes);
        console.log(JSON.stringify({warnings, untouched: classes.Battle.prototype.runEvent === stock,
            other: !/deepClone/.test(classes.ModdedDex.prototype.getActiveMove)}));
        """
    )
    outcome = json.loads(printed)
    assert outcome["warnings"] == [
        "fast path 'events' is off: Showdown's Battle.getCallback differ from those it was written for"
    ]
    assert outcome["untouched"], "the part must not be half installed"
    assert outcome["other"], "the other part does not depend on it"


def test_every_condition_arrives_with_a_new_effect_state() -> None:
    """What ``fast/events.js`` rests on: no assignment puts a condition somewhere without ``initEffectState``."""
    holders = r"(?:volatiles|sideConditions|pseudoWeather|slotConditions(?:\[[^\]]*\])?)"
    assignment = re.compile(rf"\b{holders}\[[^\]]*\]\s*=(?!=)(.*)|\b{holders}\.\w+\s*=(?!=)(.*)")
    # Court Change swaps conditions between the sides: both sides share one set, so nothing arrives.
    known = {"targetSide.sideConditions[id] = sourceSideConditions[id];"}
    package = ensure_showdown() / "dist"
    found = [
        f"{file.relative_to(package)}: {line.strip()}"
        for file in [*(package / "sim").glob("*.js"), *(package / "data").rglob("*.js")]
        for line in file.read_text(encoding="utf-8").splitlines()
        if assignment.search(line) and "initEffectState" not in line and line.strip() not in known
    ]
    # Each of these makes the empty container, in a constructor, before anything is in it.
    assert [line for line in found if not re.search(r"slotConditions\[i\] = \{\}", line)] == []


def test_a_format_whose_rules_replace_event_dispatch_runs_on_stock_dispatch() -> None:
    printed = run_node(
        """
        const {load} = require(host + '/simulator.js');
        const {Battle, Dex} = load(root, {lean: true, fast: true});
        const format = Object.create(Dex.formats.get('gen9doublescustomgame'));
        const calls = [];
        format.battle = {findPokemonEventHandlers(...words) {
            calls.push(words[1]);
            return Battle.prototype.findPokemonEventHandlers.apply(this, words);
        }};
        const battle = new Battle({format, formatid: format.id, seed: 'sodium,01'});
        const team = 'Pikachu|||Static|Surf|||||||]Mew|||Synchronize|Surf|||||||';
        for (const slot of ['p1', 'p2']) battle.setPlayer(slot, {name: slot, team});
        battle.makeChoices();
        battle.makeChoices();
        console.log(calls.length > 1000);
        """
    )
    assert printed.strip() == "true"


@pytest.mark.slow
def test_logs_stay_identical_over_hundreds_of_battles(make_spec: MakeSpec) -> None:
    assert battle_texts(make_spec, 40, fast=True) == battle_texts(make_spec, 40, fast=False)


def test_a_patched_host_leaves_the_installed_files_as_they_were(make_spec: MakeSpec) -> None:
    with Simulator(fast=True) as simulator:
        assert len(list(play(simulator, [make_spec(seed=1)]))) == 1
    verify_showdown(ensure_showdown())  # compares the digest of every file with that of the install
