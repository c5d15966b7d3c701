"""Whether the same is decided about a session in whatever shape it comes.

What a shape has no place for, such as the error flag of a result in the shapes of OpenAI, is no difference of shapes:
for each one the session is first reduced to what it can say, and then sent in it and in messages of the contract.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from condense_grpc.cli.replay.run import ReplayReport
from condense_grpc.native.formats import NativeFormat
from condense_grpc.testing.pi_conversion import carried

Json = dict[str, Any]
Replayed = Callable[[Sequence[Json], NativeFormat | None], ReplayReport]


@dataclass(slots=True)
class Comparison:
    """One session in every shape. `differences`: where shapes part from their baseline, by their first view."""

    file: str
    reports: dict[str, ReplayReport] = field(default_factory=dict)
    differences: dict[str, int] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the decisions are equal, and every other check held in every shape."""
        return not self.differences and all(report.holds for report in self.reports.values())

    def as_json(self) -> Json:
        """For each shape: whether its decisions are those of its baseline, where they part, and what came back."""
        return {"file": self.file, "shapes": {name: self._shape_as_json(name) for name in self.reports}}

    def _shape_as_json(self, name: str) -> Json:
        report = self.reports[name]
        told = {"equal": name not in self.differences, "views": len(report.decisions) - 1, "holds": report.holds}
        return told if told["equal"] else told | {"first_difference": self.differences[name]}


def compare(file: str, messages: Sequence[Json], replayed: Replayed) -> Comparison:
    """Replay a session in every shape, and as often in messages of the contract as shapes differ in what they carry."""
    found = Comparison(file)
    baselines: list[tuple[Sequence[Json], Sequence[str]]] = []
    for form in NativeFormat:
        left = carried(messages, form)
        known = next((decisions for known, decisions in baselines if known == left), None)
        if known is None:
            known = replayed(left, None).decisions
            baselines.append((left, known))
        report = found.reports[form.value] = replayed(left, form)
        if report.decisions != known:
            pairs = enumerate(zip(report.decisions, known, strict=False))
            shorter = min(len(report.decisions), len(known))
            found.differences[form.value] = next((at for at, (mine, base) in pairs if mine != base), shorter)
    return found
