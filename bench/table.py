"""Rows of the result, and how they are shown."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

TOLERANCE = 4 / 3


@dataclass(frozen=True, slots=True)
class Row:
    """One measure. `at_least`: the target is a floor; otherwise it must not be exceeded. `facts` lie behind it."""

    name: str
    sentence: str
    value: float
    target: float
    unit: str = "x"
    at_least: bool = False
    facts: dict[str, float] = field(default_factory=dict)

    @property
    def is_met(self) -> bool:
        """Whether the target is reached."""
        return self.value >= self.target if self.at_least else self.value <= self.target

    @property
    def is_failed(self) -> bool:
        """Whether it is missed by more than a third."""
        return self.value * TOLERANCE < self.target if self.at_least else self.value > self.target * TOLERANCE

    @property
    def mark(self) -> str:
        """The verdict in a word."""
        return "ok" if self.is_met else "MISSED" if self.is_failed else "near"


def as_text(rows: Sequence[Row]) -> str:
    """The table for people."""
    lines = [f"{'row':<14}{'measured':>12} {'target':>12}  {'':<7} what"]
    for row in rows:
        sign = ">=" if row.at_least else "<="
        target = f"{sign} {_number(row.target)} {row.unit}"
        lines.append(
            f"{row.name:<14}{_number(row.value) + ' ' + row.unit:>12} {target:>12}  {row.mark:<7} {row.sentence}"
        )
        facts = ", ".join(f"{name} {_number(value)}" for name, value in row.facts.items())
        if facts:
            lines.append(f"{'':<49}{facts}")
    return "\n".join(lines)


def as_json(rows: Sequence[Row]) -> str:
    """The table for machines."""
    return json.dumps([{**asdict(row), "mark": row.mark} for row in rows], indent=2)


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")
