"""Plays scenarios: sends their steps to a runner, arranges what the server does, and compares the reports.

A step whose `op` begins with `server.` is for the server; every other one goes to the runner with its lists expanded.
A step without `expect` and `expectError` has to succeed. `save` keeps parts of a report under a name.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import truth
from matching import find_difference
from peer import Runner, RunnerDied, Server
from templates import elements_of, text_of

SCENARIOS = Path(__file__).resolve().parent / "scenarios.json"
LAST = "ends-with-its-input"
_FOR_THE_DRIVER = {"expect", "expectError", "save", "only", "say"}


@dataclass(frozen=True)
class Scenario:
    """A story with a name, and why it has to hold."""

    name: str
    steps: Sequence[Mapping[str, Any]]


@dataclass
class Suite:
    """The scenario file."""

    lists: Mapping[str, Sequence[Any]]
    scenarios: Sequence[Scenario]


def read_suite(path: Path = SCENARIOS) -> Suite:
    """The scenarios in their order."""
    content = json.loads(path.read_text(encoding="utf-8"))
    scenarios = [Scenario(one["name"], one["steps"]) for one in content["scenarios"]]
    assert len({one.name for one in scenarios}) == len(scenarios), "names of scenarios repeat"
    return Suite(content["lists"], scenarios)


class StepFailed(Exception):
    """A step has not come out as the scenario expects."""


@dataclass
class Play:
    """One scenario with one runner."""

    suite: Suite
    server: Server
    runner: Runner
    abilities: Mapping[str, Any]
    ids: dict[str, str] = field(default_factory=dict)
    sent: dict[str, list[str]] = field(default_factory=dict)
    saved: dict[str, Any] = field(default_factory=dict)

    def run(self, scenario: Scenario) -> None:
        """Plays it. Raises `StepFailed` and `RunnerDied`."""
        self.runner.order(op="reset", target=self.server.address)
        for number, step in enumerate(scenario.steps):
            if any(self.abilities.get(name) != value for name, value in step.get("only", {}).items()):
                continue
            try:
                self._step(step)
            except StepFailed as error:
                raise StepFailed(f"step {number} ({step['op']}): {error}") from None
            except RunnerDied as error:
                raise RunnerDied(f"step {number} ({step['op']}): {error}") from None

    def _step(self, step: Mapping[str, Any]) -> None:
        order = {name: self._read(value) for name, value in step.items() if name not in _FOR_THE_DRIVER}
        if order["op"].startswith("server."):
            report = {"result": self._at_server(order)}
        else:
            report = self.runner.order(**self._prepared(order))
        self._compare(step, report)

    def _compare(self, step: Mapping[str, Any], report: Mapping[str, Any]) -> None:
        kind = "error" if "expectError" in step else "result"
        if kind not in report:
            what = "an error" if kind == "error" else "success"
            raise StepFailed(f"expected {what}, got {json.dumps(report)[:600]}")
        expected = step.get("expectError", step.get("expect"))
        difference = None if expected is None else find_difference(expected, report[kind], self.saved)
        if difference:
            raise StepFailed(difference)
        for name, path in step.get("save", {}).items():
            value = report[kind]
            for key in filter(None, path.split("/")):
                value = value[int(key) if isinstance(value, list) else key]
            self.saved[name] = value

    def _read(self, value: Any) -> Any:
        """An argument; `{"$saved": name}` is what was saved, `{"$refs": [1, 3]}` is `t1`, `t2`, `t3`."""
        if isinstance(value, dict) and value.keys() == {"$saved"}:
            return self.saved[value["$saved"]]
        if isinstance(value, dict) and value.keys() == {"$refs"}:
            first, last = value["$refs"]
            return [f"t{number}" for number in range(first, last + 1)]
        if isinstance(value, list):
            return [self._read(one) for one in value]
        return {key: self._read(one) for key, one in value.items()} if isinstance(value, dict) else value

    def _prepared(self, order: dict[str, Any]) -> dict[str, Any]:
        """The order as the runner gets it; what the caller's lists hold is kept to compare with."""
        session = order.get("session", "")
        match order["op"]:
            case "session":
                name = order.pop("same", session)
                order.setdefault("id", self.ids.get(name) or f"{secrets.token_hex(4)} é/{name}")
                self.ids[session] = order["id"] = text_of(order["id"], 0)
                self.sent[session] = []
            case "append":
                order["elements"] = list(elements_of(order["elements"], self.suite.lists))
                self.sent[session] += order["elements"]
            case "cut":
                del self.sent[session][order["length"] :]
        return order

    def _at_server(self, order: dict[str, Any]) -> Any:
        what = order.pop("op").removeprefix("server.")
        session = order.get("session")
        if what == "restart":
            self.server.kill()
            self.server.start()
            return {}
        assert session is not None
        if what == "idle":
            return truth.wait_until_idle(self.server.address, self.ids[session])
        if what == "gaps":
            calls = self.server.order(do="calls", session=self.ids[session])
            return [later["at"] - earlier["at"] for earlier, later in pairwise(calls)]
        if what == "holds":
            kept = truth.read_elements(self.server.address, self.ids[session])
            return {"same": _same(self.sent[session], kept, exact=self.abilities["numbers"] == "text")}
        return self.server.order(**{**order, "do": what, "session": self.ids[session]})


def _same(wanted: Sequence[str], kept: Sequence[str], *, exact: bool) -> str:
    """`yes`, or where the server's elements are not the caller's."""
    if len(wanted) != len(kept):
        return f"{len(kept)} elements instead of {len(wanted)}"
    for index, (one, other) in enumerate(zip(wanted, kept, strict=True)):
        if one != other and (exact or json.loads(one) != json.loads(other)):
            return f"element {index} is {other[:200]} instead of {one[:200]}"
    return "yes"


def play_all(
    suite: Suite, server: Server, command: Sequence[str], tell: Callable[[str, str | None], None], pick: str = ""
) -> None:
    """Plays every scenario with a new runner. `tell` gets each name with what went wrong (None: nothing)."""
    runner: Runner | None = None
    for scenario in suite.scenarios:
        if pick not in scenario.name:
            continue
        try:
            if runner is None:
                runner = Runner(command, server.address)
            abilities = runner.order(op="hello")["result"]
            Play(suite, server, runner, abilities).run(scenario)
        except StepFailed as error:
            tell(scenario.name, str(error))
        except (RunnerDied, OSError) as error:
            tell(scenario.name, str(error))
            runner = None
        else:
            tell(scenario.name, None)
    if runner is not None:
        try:
            runner.close()
        except RunnerDied as error:
            tell(LAST, str(error))
        else:
            tell(LAST, None)
