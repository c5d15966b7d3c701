"""The diagnostics of a session: what went oddly without failing, each thing said once.

The memory begins empty whenever a session is loaded, rewound or forked; stored entries carry no key and are not
read back.
"""

from collections.abc import Callable
from enum import StrEnum

from condense_grpc.domain.entries import DiagnosticEntry


class DiagnosticKind(StrEnum):
    """What can be noticed. The order is the one in which counters are shown."""

    UNRESOLVED_RANGE = "unresolved-range"
    RANGE_ID_MISMATCH = "range-id-mismatch"
    ORPHAN_SWEEP = "orphan-sweep"
    BACKFILL_EMPTY = "backfill-empty"
    MALFORMED_ENTRY = "malformed-entry"
    SUMMARY_FAILED = "summary-failed"


# Counters that are there from the beginning; those of other kinds come with the first of its kind.
_COUNTED = tuple(DiagnosticKind)[:4]


class DiagnosticSink:
    """Knows what was reported in one session. Owned by it and not thread-safe."""

    def __init__(self) -> None:
        self._known: set[tuple[DiagnosticKind, str]] = set()
        self._counts = dict.fromkeys(_COUNTED, 0)

    @property
    def counts(self) -> dict[DiagnosticKind, int]:
        """Reports since the last reset by kind."""
        return dict(self._counts)

    def knows(self, kind: DiagnosticKind, key: str) -> bool:
        """Whether this thing was reported before."""
        return (kind, key) in self._known

    def report(self, kind: DiagnosticKind, key: str, detail: str, record: Callable[[DiagnosticEntry], object]) -> bool:
        """Record a thing unless it is known; whether it was new.

        `record` writes the entry. When it raises, nothing is remembered, so the next report tries again; the error
        goes on to the caller, who decides whether it matters.
        """
        if self.knows(kind, key):
            return False
        record(DiagnosticEntry(kind, detail))
        self._known.add((kind, key))
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return True

    def reset(self) -> None:
        """Forget everything."""
        self._known.clear()
        self._counts = dict.fromkeys(_COUNTED, 0)
