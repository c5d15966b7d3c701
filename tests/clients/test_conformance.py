"""The driver of the conformance tells right from wrong: what it lets pass is what a scenario says."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import driver
import peer
import pytest
from driver import Scenario, Suite, play_all, read_suite
from matching import find_difference
from peer import ROOT, Server
from templates import elements_of, fill

from condense_grpc.api.condense.v1 import error_pb2
from condense_grpc.client import errors

PYTHON = [sys.executable, str(ROOT / "clients" / "python" / "conformance" / "runner.py")]


def play(command: list[str], *scenarios: Scenario, lists: Mapping[str, Any] | None = None) -> dict[str, str | None]:
    outcomes: dict[str, str | None] = {}
    with Server() as server:
        play_all(Suite(lists or {}, scenarios), server, command, outcomes.__setitem__)
    return outcomes


def test_the_python_client_plays_every_scenario() -> None:
    suite = read_suite()
    outcomes = play(PYTHON, *suite.scenarios, lists=suite.lists)
    assert outcomes == dict.fromkeys([*(one.name for one in suite.scenarios), driver.LAST])


def test_every_reason_of_the_contract_is_provoked_and_has_its_type() -> None:
    (scenario,) = [one for one in read_suite().scenarios if one.name == "errors-of-every-reason"]
    provoked = {step["reason"] for step in scenario.steps if step["op"] == "server.refuse"}
    reason_names = error_pb2.ErrorReason.DESCRIPTOR.values_by_name
    reasons = {name.removeprefix("ERROR_REASON_") for name in reason_names} - {"UNSPECIFIED"}
    assert provoked == reasons == set(errors.BY_REASON)
    types = {step["expectError"]["type"] for step in scenario.steps if "expectError" in step}
    assert {reason.title().replace("_", "") for reason in reasons} <= types


def test_a_wrong_report_fails_its_scenario_and_no_other() -> None:
    wrong = Scenario("wrong", [{"op": "options", "expect": {"maxAttempts": 5}}])
    missing = Scenario("missing", [{"op": "options", "expectError": {"type": "Unavailable"}}])
    right = Scenario("right", [{"op": "options", "expect": {"maxAttempts": 4}}])
    outcomes = play(PYTHON, wrong, missing, right)
    assert outcomes["right"] is None
    assert "/maxAttempts is 4, not 5" in str(outcomes["wrong"])
    assert "expected an error" in str(outcomes["missing"])


@pytest.mark.parametrize(
    ("words", "problem"),
    [("raise SystemExit(3)", "the runner has ended"), ("input(); print('hello')", "the runner said 'hello")],
)
def test_a_runner_that_breaks_off_fails_the_scenario(words: str, problem: str) -> None:
    outcomes = play([sys.executable, "-c", words], Scenario("any", [{"op": "options"}]))
    assert problem in str(outcomes["any"])


def test_a_runner_that_never_answers_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "PATIENCE_SECONDS", 0.2)
    outcomes = play([sys.executable, "-c", "input(); input()"], Scenario("any", [{"op": "options"}]))
    assert "has not answered" in str(outcomes["any"])


def test_what_the_server_has_is_compared_exactly_where_texts_can_be_kept() -> None:
    assert driver._same(['{"a":1.0}'], ['{"a":1}'], exact=False) == "yes"
    assert driver._same(['{"a":1.0}'], ['{"a":1}'], exact=True) != "yes"
    assert driver._same(['{"a":1}'], ['{"a":2}'], exact=False) != "yes"
    assert driver._same(["{}", "{}"], ["{}"], exact=False) != "yes"


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {}),
        ({"a": None}, {"a": 0}),
        ({"a": True}, {"a": 1}),
        ([1], [1, 2]),
        ([1], {"a": 1}),
        ({"$contains": "x"}, "abc"),
        ({"$contains": {"a": 1}}, [{"a": 2}]),
        ({"$contains": "x"}, None),
        ({"$lacks": "x"}, "xyz"),
        ({"$lacks": "x"}, None),
        ({"$startsWith": "b"}, "abc"),
        ({"$atLeast": 3}, 2),
        ({"$atMost": 3}, 4),
        ({"$atMost": 3}, None),
        ({"$length": 2}, [1]),
        ({"$length": 2}, 5),
        ({"$json": {"a": 1}}, '{"a": 2}'),
        ({"$json": {"a": 1}}, "{"),
        ({"$sha256Of": {"of": "x"}}, "y"),
        ({"$saved": "v"}, 6),
        ({"$notSaved": "v"}, 5),
        ({"$savedJson": "j"}, {"a": 1, "b": 2}),
        ({"$all": [{"$contains": "a"}, {"$contains": "z"}]}, "abc"),
        ({"$some": True}, ""),
    ],
)
def test_what_does_not_match_is_told(expected: Any, actual: Any) -> None:
    assert find_difference(expected, actual, {"v": 5, "j": '{"a": 1}'})


def test_what_matches_is_let_pass() -> None:
    expected = {"a": {"$all": [{"$contains": "b"}, {"$length": 3}]}, "c": [1, {"$atLeast": 2}], "d": {"$saved": "v"}}
    assert find_difference(expected, {"a": "abc", "c": [1.0, 2], "d": 5, "e": 0}, {"v": 5}) is None


def test_a_condition_that_does_not_exist_is_no_condition() -> None:
    with pytest.raises(ValueError, match="no condition"):
        find_difference({"$like": 1}, 1, {})


def test_texts_differ_with_their_number_alone() -> None:
    assert fill(500, 1) == fill(500, 1) != fill(500, 2)
    assert len(fill(501, 1)) == 501
    items = [{"times": 2, "from": 3, "of": [{"id": "c{{n}}", "text": "{{fill 40}}"}]}, {"use": "x", "n": 7}]
    texts = list(elements_of(items, {"x": ['{"n":{{n}}.0}']}))
    assert [json.loads(text).get("id") for text in texts] == ["c3", "c4", None]
    assert texts[2] == '{"n":7.0}'


def test_its_readme_names_every_order() -> None:
    readme = (Path(driver.__file__).parent / "README.md").read_text(encoding="utf-8")
    used = {step["op"] for scenario in read_suite().scenarios for step in scenario.steps}
    assert all(f"`{op}`" in readme for op in used)
    assert readme.count("\n") <= 80
