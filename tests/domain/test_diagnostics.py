"""What a sink remembers when recording fails."""

import pytest

from condense_grpc.domain.diagnostics import DiagnosticKind, DiagnosticSink
from condense_grpc.domain.entries import DiagnosticEntry

KIND = DiagnosticKind.ORPHAN_SWEEP


def failing(entry: DiagnosticEntry) -> None:
    raise OSError("no space")


def test_a_failed_record_is_tried_again() -> None:
    sink = DiagnosticSink()
    written: list[DiagnosticEntry] = []
    with pytest.raises(OSError, match="no space"):
        sink.report(KIND, "k", "d", failing)
    assert not sink.knows(KIND, "k")
    assert sink.counts[KIND] == 0
    assert sink.report(KIND, "k", "d", written.append)
    assert not sink.report(KIND, "k", "other", written.append)
    assert written == [DiagnosticEntry("orphan-sweep", "d")]


def test_counters_given_out_are_copies() -> None:
    sink = DiagnosticSink()
    sink.counts[KIND] = 7
    assert sink.counts[KIND] == 0
