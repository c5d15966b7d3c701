"""Bytes of messages, skeletons and decisions: whatever goes in comes out, and a digest never depends on our stamp."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.batches import Record, Ref, Source, SummaryDetails
from condense_grpc.domain.entries import AliasEntry, IndexEntry, SkipEntry, SkippedCall, SkipReason, SummaryEntry
from condense_grpc.domain.messages import Message, Role, TextPart
from condense_grpc.domain.occurrence import ParsedKey
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.skeleton import MessageSkeleton, skeleton_of
from condense_grpc.engine.codec import (
    decode_message,
    decode_skeleton,
    encode_message,
    encode_skeleton,
    pack,
)
from condense_grpc.engine.digest import START, etag_of, next_digest
from condense_grpc.engine.entry_codec import decode_entries, encode_entries
from condense_grpc.engine.entry_table import read_table, write_table
from tests.domain.histories import malformed_lists
from tests.engine.generated import pieces

ODD = "lone \ud800 surrogate"


@given(pieces(), st.integers(-(10**12), 10**13))
def test_messages_and_skeletons_come_back(messages: list[Message], time_ms: int) -> None:
    """As they were given, with the time that is kept beside them."""
    for message in messages:
        stamped = replace(message, timestamp_ms=time_ms)
        assert decode_message(encode_message(message), time_ms) == stamped
        skeleton = skeleton_of(stamped, ("path",))
        assert decode_skeleton(encode_skeleton(skeleton), time_ms) == skeleton


@given(malformed_lists)
def test_whatever_a_host_calls_a_message_comes_back(values: list[Any]) -> None:
    """Its own JSON is kept."""
    for value in values:
        message = replace(message_from_pi(value), timestamp_ms=7)
        assert decode_message(encode_message(message), 7) == message
        skeleton = skeleton_of(message, ("path",))
        assert decode_skeleton(encode_skeleton(skeleton), 7) == skeleton


def test_refs_of_a_host_may_have_any_numbers() -> None:
    """A summary that a host made up cannot break a load; such a ref names no result."""
    details = {"toolCallRefs": [{"shortId": "t1", "toolCallId": "a", "resultTimestamp": 1e300, "occurrence": 10**30}]}
    value = {"role": "custom", "customType": "context-prune-summary", "content": "x", "details": details}
    skeleton = skeleton_of(message_from_pi(value), ())
    (ref,) = decode_skeleton(encode_skeleton(skeleton), 0).summary_refs
    assert (ref.short_id, ref.tool_call_id) == ("t1", "a")
    assert ref.result_timestamp_ms == 2**63 - 1


def test_the_digest_covers_the_message_and_everything_before_it() -> None:
    """And not the time that the service gives."""
    one, other = (encode_message(Message(Role.USER, (TextPart(text),))) for text in ("one", "other"))
    digests = [next_digest(START, one), next_digest(START, other), next_digest(next_digest(START, one), other)]
    assert len({etag_of(digest) for digest in digests}) == 3
    assert etag_of(START) == ""


@pytest.mark.parametrize(
    "entry",
    [
        IndexEntry((Record("a", "bash", False, None, None, text=ODD, args_json="{}", parts=(TextPart(ODD),)),)),
        IndexEntry((), (Ref("t1", ODD, 5, 2),), backfilled=True),
        SummaryEntry(ODD, SummaryDetails((Ref("t1", "a"),), (ODD,), None, None)),
        AliasEntry("b@5", "a@5", None, ParsedKey("b@5")),
        AliasEntry("b@5", "a@5", Record("b", "bash", True, 1, 2, 5)),
        SkipEntry(SkipReason.OVERSIZED, (SkippedCall("a", 5, 2), SkippedCall("b"))),
    ],
)
def test_decisions_come_back(entry: Any) -> None:
    """With what is missing and with what no encoding likes."""
    assert decode_entries(encode_entries((entry, entry))) == (entry, entry)


TEXTS = st.text(max_size=6)
RECORDS = st.builds(
    Record,
    TEXTS,
    TEXTS,
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 99)),
    st.one_of(st.none(), st.integers(0, 10**13)),
    result_timestamp_ms=st.one_of(st.none(), st.integers(0, 10**13)),
    occurrence=st.one_of(st.none(), st.integers(2, 9)),
    text_chars=st.integers(0, 9),
    text=st.one_of(st.none(), TEXTS),
    args_json=st.one_of(st.none(), TEXTS),
    parts=st.lists(st.builds(TextPart, TEXTS), max_size=2).map(tuple),
    paths=st.lists(TEXTS, max_size=2).map(tuple),
    content_hash=TEXTS,
    spill_bytes=st.one_of(st.none(), st.integers(0, 9)),
    source=st.one_of(st.none(), st.builds(Source, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))),
)


@given(st.lists(RECORDS, max_size=4), st.booleans())
def test_records_come_back_without_what_their_messages_hold(records: list[Record], backfilled: bool) -> None:
    """Texts, arguments and parts of a record with a source lie in its messages; everything else is as it was."""
    filed = tuple(
        record if record.source is None else record._replace(text=None, args_json=None, parts=()) for record in records
    )
    (entry,) = decode_entries(encode_entries((IndexEntry(tuple(records), backfilled=backfilled),)))
    assert entry == IndexEntry(filed, backfilled=backfilled)


def test_tables_that_are_rows_are_read() -> None:
    """As the first versions wrote them, with the members of a source in one cell."""
    names = ["tool_call_id", "tool_name", "is_error", "turn_index", "timestamp_ms", "paths", "parts", "source"]
    rows = [["a", "bash", False, 1, 2, ["p"], [[0, "x", ""]], None], ["b", "bash", True, None, 2, [], [], [3, 0, 4]]]
    assert read_table(Record, {"names": names, "rows": rows}) == (
        Record("a", "bash", False, 1, 2, paths=("p",), parts=(TextPart("x"),)),
        Record("b", "bash", True, None, 2, source=Source(3, 0, 4)),
    )


@given(st.lists(RECORDS, max_size=4))
def test_what_all_records_share_is_written_once(records: list[Record]) -> None:
    """A table says nothing more about many equal values than about one."""
    table = write_table(Record, [record for record in records[:1] for _ in range(3)])
    assert not table["columns"]
    assert read_table(Record, table) == read_table(Record, write_table(Record, records[:1])) * 3


def test_a_table_with_columns_of_a_newer_version_is_refused() -> None:
    """Nobody knows what they would mean."""
    table = write_table(Ref, [Ref("t1", "a")])
    with pytest.raises(ValueError, match="does not know"):
        read_table(Ref, table | {"same": {**table["same"], "colour": "red"}})


def test_tables_of_another_version_are_read_by_name() -> None:
    """Columns that this one does not have at that place, or not in that order."""
    table = {"names": ["tool_call_id", "short_id"], "rows": [["a", "t1"], ["b", "t2"]]}
    assert read_table(Ref, table) == (Ref("t1", "a"), Ref("t2", "b"))


def test_skeletons_and_decisions_of_the_first_release_are_read() -> None:
    """Bytes that it wrote, field by field."""
    skeleton = pack((1, 2, 40, [], None, "a", "bash", True, 7, 0, 0, None, None, False, None))
    assert decode_skeleton(skeleton, 5) == MessageSkeleton(
        Role.TOOL_RESULT, 5, 40, tool_call_id="a", tool_name="bash", is_error=True, text_chars=7
    )
    record = [
        "tool_call_id",
        "a",
        "tool_name",
        "x",
        "is_error",
        False,
        "turn_index",
        1,
        "timestamp_ms",
        2,
        "paths",
        ["p"],
    ]
    entries = pack([["index", ["records", [record], "refs", [["short_id", "t1", "tool_call_id", "a"]]]]])
    assert decode_entries(entries) == (IndexEntry((Record("a", "x", False, 1, 2, paths=("p",)),), (Ref("t1", "a"),)),)
