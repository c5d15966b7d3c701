"""Runs the vectors of an operation and collects what went wrong."""

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.vectorkit.load import Vector, vectors_by_operation
from tests.vectorkit.registry import Runner, broken_modules, load_runners


@dataclass(slots=True)
class Outcome:
    """The result of one operation; `problem` names what kept it from running at all."""

    op: str
    cases: int
    mismatches: dict[str, str] = field(default_factory=dict)
    problem: str = ""

    @property
    def passed(self) -> int:
        """Number of vectors whose answer was right."""
        return 0 if self.problem else self.cases - len(self.mismatches)

    @property
    def is_clean(self) -> bool:
        """Whether every vector passed."""
        return self.passed == self.cases

    def report(self, shown: int = 3) -> str:
        """The count, and the first mismatches."""
        if self.problem:
            return f"{self.op}: {self.problem} ({self.cases} cases)"
        lines = [f"{self.op}: {len(self.mismatches)} of {self.cases} failed"]
        lines += [f"  {vector_id}: {what}" for vector_id, what in list(self.mismatches.items())[:shown]]
        lines += ["  all: " + " ".join(self.mismatches)] if len(self.mismatches) > shown else []
        return "\n".join(lines)


RESULTS: list[Outcome] = []
"""What the tests of this process found, for the table at the end of their run."""


def run_operation(op: str) -> Outcome:
    """Run all vectors of one operation."""
    vectors = vectors_by_operation().get(op, [])
    runner = load_runners().get(op)
    outcome = Outcome(op, len(vectors))
    if runner is None:
        broken = "; ".join(f"{name} cannot be imported: {why}" for name, why in broken_modules().items())
        outcome.problem = f"no runner ({broken})" if broken else "no runner"
        return outcome
    for vector in vectors:
        wrong = judge(runner, vector)
        if wrong is not None:
            outcome.mismatches[vector.id] = wrong
    return outcome


def judge(runner: Runner, vector: Vector) -> str | None:
    """What is wrong with the answer to one vector; None when it is right."""
    try:
        return runner.compare(vector.expected, runner.run(vector.input))
    except Exception as error:  # a runner that fails is a wrong answer, and the others still run
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"raised {type(error).__name__}: {error} ({place.filename.rsplit('/', 1)[-1]}:{place.lineno})"


def table(outcomes: Iterable[Outcome]) -> list[str]:
    """Lines of a table: operation, cases, passed."""
    rows = sorted(outcomes, key=lambda outcome: outcome.op)
    lines = [f"{'operation':<28}{'cases':>7}{'passed':>8}"]
    for row in rows:
        note = "" if row.is_clean else f"  {row.problem or 'FAILED'}"
        lines.append(f"{row.op:<28}{row.cases:>7}{row.passed:>8}{note}")
    lines.append(f"{'total':<28}{sum(row.cases for row in rows):>7}{sum(row.passed for row in rows):>8}")
    return lines
