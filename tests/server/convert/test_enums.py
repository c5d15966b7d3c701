"""Every value of an enum of the domain has one of the contract, and every one of the contract a meaning."""

import pytest

from condense_grpc.api.condense.v1 import (
    capabilities_pb2,
    config_pb2,
    edit_pb2,
    flush_event_pb2,
    flush_pb2,
    tool_call_pb2,
    transcript_pb2,
    view_pb2,
)
from condense_grpc.domain.config import BatchingMode, PruneOn
from condense_grpc.domain.diagnostics import DiagnosticKind
from condense_grpc.domain.edits import InsertKind
from condense_grpc.domain.validity import ViolationKind
from condense_grpc.domain.view import StubReason
from condense_grpc.engine.events import BatchOutcome, FlushOutcome
from condense_grpc.engine.requests import CallState, FlushTrigger, ViewKind
from condense_grpc.server.convert import enums
from condense_grpc.settings import SESSION_KNOBS

TABLES = [
    (enums.PRUNE_ON, config_pb2.PruneOn, list(PruneOn)),
    (enums.BATCHING_MODE, config_pb2.BatchingMode, list(BatchingMode)),
    (enums.VIEW, view_pb2.View, list(ViewKind)),
    (enums.TRIGGER, flush_pb2.FlushTrigger, list(FlushTrigger)),
    (enums.FLUSH_OUTCOME, flush_pb2.FlushOutcome, list(FlushOutcome)),
    (enums.BATCH_OUTCOME, flush_pb2.BatchOutcome, list(BatchOutcome)),
    (enums.BODY_SOURCE, flush_event_pb2.BodySource, ["summaries", "fused", "deterministic"]),
    (enums.NOTICE_LEVEL, flush_event_pb2.NoticeLevel, ["info", "warning", "error"]),
    (enums.REPLACE_REASON, edit_pb2.ReplaceReason, list(StubReason)),
    (enums.INSERT_KIND, edit_pb2.InsertKind, list(InsertKind)),
    (enums.CALL_STATE, tool_call_pb2.ToolCallState, list(CallState)),
    (enums.STORE_KIND, capabilities_pb2.StoreKind, ["memory", "sqlite", "postgresql"]),
]


@pytest.mark.parametrize(("pairs", "wire", "meanings"), TABLES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_two_sides_match(pairs, wire, meanings) -> None:
    assert set(pairs.meanings) == set(meanings)
    known = [value for value in wire.values() if value]
    assert {pairs.write(pairs.read(value)) for value in known} == set(known)
    assert pairs.read(99) is None


def test_thinking_levels_are_those_of_the_setting() -> None:
    [knob] = [knob for knob in SESSION_KNOBS if knob.name == "summarizer_thinking"]
    assert all(knob.rule.accept(level) == level for level in enums.THINKING_LEVEL.meanings)
    assert len(enums.THINKING_LEVEL.meanings) == len(config_pb2.ThinkingLevel.values()) - 1


def test_every_kind_of_diagnostic_and_violation_can_be_written() -> None:
    assert set(enums.DIAGNOSTIC_KIND.meanings) >= set(DiagnosticKind)
    assert set(enums.VIOLATION_KIND) == set(ViolationKind)
    assert set(enums.VIOLATION_KIND.values()) <= set(transcript_pb2.ViolationKind.values())
