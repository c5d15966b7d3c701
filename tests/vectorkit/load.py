"""Reads the vectors: one JSON object per line in `<folder>/<split>/<name>.jsonl`.

The folder is `tests/vectors`, or the one named by the environment variable CONDENSE_VECTORS. A line belongs
to the operation it names, whatever its file is called. Message lists in expectations are delta coded against
the messages of their vector (in a scenario: against the branch of the session at that step); here they are
written out.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "vectors"


@dataclass(frozen=True, slots=True)
class Vector:
    """One case: what goes in and the complete answer."""

    id: str
    op: str
    input: dict[str, Any]
    expected: Any
    tags: frozenset[str] = frozenset()


def folder() -> Path:
    """Where the vectors are read from."""
    named = os.environ.get("CONDENSE_VECTORS")
    return Path(named) if named else FOLDER


@cache
def vectors_by_operation() -> dict[str, list[Vector]]:
    """All vectors in file order, by the operation they exercise."""
    by_operation: dict[str, list[Vector]] = {}
    for path in sorted(folder().glob("*/*.jsonl")):
        for vector in _read(path):
            by_operation.setdefault(vector.op, []).append(vector)
    return dict(sorted(by_operation.items()))


def find_vector(vector_id: str) -> Vector | None:
    """The vector with an id."""
    for vectors in vectors_by_operation().values():
        for vector in vectors:
            if vector.id == vector_id:
                return vector
    return None


def _read(path: Path) -> Iterator[Vector]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            raw = json.loads(line)
            yield Vector(raw["id"], raw["op"], raw["input"], expand_expected(raw), frozenset(raw.get("tags", ())))


def expand_expected(raw: dict[str, Any]) -> Any:
    """The expectation of a line with complete message lists."""
    expected = raw["expected"]
    if raw["op"] == "scenario":
        branches = _branches(raw["input"])
        return {"steps": [_expand_step(step, branch) for step, branch in zip(expected["steps"], branches, strict=True)]}
    if isinstance(expected, dict) and "messages" in expected:
        return {**expected, "messages": _expand(expected["messages"], raw["input"]["messages"])}
    return expected


def _expand_step(step: dict[str, Any], branch: list[Any]) -> dict[str, Any]:
    return {**step, "messages": _expand(step["messages"], branch)} if "messages" in step else step


def _expand(coded: Any, source: list[Any]) -> list[Any]:
    if coded == "$input":
        return list(source)
    return [source[item["$in"]] if isinstance(item, dict) and set(item) == {"$in"} else item for item in coded]


def _branches(script: dict[str, Any]) -> Iterator[list[Any]]:
    """For every step the messages of its session, as they are after the step."""
    sessions: dict[str, list[Any]] = {"main": []}
    for step in script["steps"]:
        name = step.get("session", "main")
        if step["do"] == "append":
            sessions[name] = sessions[name] + step["messages"]
        elif step["do"] == "rewind":
            sessions[name] = sessions[name][: step["to_length"]]
        elif step["do"] == "fork":
            sessions[step["to"]] = sessions[name]
        yield sessions[name]
