"""Revisions: other edits have other names."""

from dataclasses import fields, replace

import pytest

from condense_grpc.domain.edits import Edit, InsertAfter, InsertKind, MoveAfter, PurgeArguments, ReplaceResult
from condense_grpc.domain.messages import Message, Role, TextPart
from condense_grpc.domain.view import StubReason
from condense_grpc.engine.edit_sums import sum_of_edits

_SUMMARY = Message(Role.CUSTOM, (TextPart("what was done"),), 5)

OTHER_MEMBERS: list[tuple[Edit, dict[str, object]]] = [
    (
        ReplaceResult(1, "stub", "t1", StubReason.SUMMARIZED),
        {"message_index": 2, "text": "another", "ref": "t2", "reason": StubReason.SPILLED},
    ),
    (
        PurgeArguments(1, "a", 0, "{}"),
        {"message_index": 2, "tool_call_id": "b", "call_index": 1, "arguments_json": "[]"},
    ),
    (
        InsertAfter(1, _SUMMARY, InsertKind.SUMMARY),
        {
            "message_index": 2,
            "message": replace(_SUMMARY, parts=(TextPart("what else was done"),)),
            "kind": InsertKind.COMPRESSED_CHAIN,
        },
    ),
    (MoveAfter(1, 3), {"message_index": 2, "after_index": 4}),
]


@pytest.mark.parametrize(("edit", "others"), OTHER_MEMBERS, ids=lambda value: type(value).__name__)
def test_every_member_of_an_edit_counts(edit: Edit, others: dict[str, object]) -> None:
    """Two edits with one name would be taken for the same by who knows the first."""
    assert set(others) == {one.name for one in fields(edit)}
    sums = [sum_of_edits([replace(edit, **{name: value})]) for name, value in others.items()]
    assert len({sum_of_edits([edit]), *sums}) == len(others) + 1


def test_no_text_runs_into_the_next() -> None:
    assert sum_of_edits([PurgeArguments(1, "a", 0, "b{}")]) != sum_of_edits([PurgeArguments(1, "ab", 0, "{}")])
