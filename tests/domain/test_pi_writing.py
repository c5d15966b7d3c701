"""Entries written in Pi's JSON and read back."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.batches import Call, Record, RecordContext, Ref, Spill, SummaryDetails, record_of
from condense_grpc.domain.entries import (
    AliasEntry,
    ArchivedRef,
    CarriedEntry,
    ChainEntry,
    ContextMetrics,
    DiagnosticEntry,
    Entry,
    FlushMetricsEntry,
    Frontier,
    FrontierEntry,
    IndexEntry,
    PinEntry,
    SkipEntry,
    SkippedCall,
    SkipReason,
    Stats,
    StatsEntry,
    SummaryEntry,
)
from condense_grpc.domain.json_text import compact
from condense_grpc.domain.messages import ImagePart, OpaquePart, TextPart
from condense_grpc.domain.pi_entries import entry_from_pi, entry_time_ms
from condense_grpc.domain.pi_writing import entry_to_pi, iso_time

TEXT = st.text(max_size=8)
IDS = st.sampled_from(["a", "b@7", "@", "t1", "a@5#2", "a@007", ""]) | TEXT
TIMES = st.integers(0, 4_000_000_000_000)
COUNTS = st.integers(0, 1000)
NUMBERS = st.none() | st.integers(2, 9)
ARGUMENTS = st.dictionaries(TEXT | st.just("path"), TEXT | COUNTS | st.none(), max_size=2).map(compact)
PARTS = st.sampled_from([(), (TextPart("x"), ImagePart("image/png", b"\x00\x01")), (OpaquePart("a", '{"type":"a"}'),)])
SPILLS = st.none() | st.builds(Spill, COUNTS, TEXT)
CALLS = st.builds(Call, IDS, TEXT, ARGUMENTS, TEXT, st.booleans(), st.none() | TIMES, NUMBERS, PARTS)
CONTEXTS = st.builds(RecordContext, st.integers(-1, 99), TIMES)
RECORDS = st.builds(record_of, CALLS, CONTEXTS, SPILLS)
REFS = st.builds(Ref, IDS, IDS, st.none() | TIMES, NUMBERS)
TUPLES = st.lists(TEXT, max_size=3).map(tuple)


def many(of: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=3).map(tuple)


@st.composite
def aliases(draw: st.DrawFn) -> AliasEntry:
    record = draw(RECORDS)
    return AliasEntry(record.key, draw(RECORDS).key, draw(st.none() | st.just(record)))


CHAINS = st.builds(
    ChainEntry,
    TEXT,
    TIMES,
    TUPLES,
    st.none() | TIMES,
    TUPLES,
    TIMES,
    st.none() | TEXT,
    st.none() | st.just("deterministic"),
    many(st.builds(ArchivedRef, TEXT, TEXT)),
    TUPLES,
    TUPLES,
)
FRONTIERS = st.builds(
    Frontier, IDS.filter(bool), TEXT.filter(bool), COUNTS, TIMES, COUNTS, COUNTS, COUNTS, COUNTS, TEXT.filter(bool)
)
METRICS = st.builds(ContextMetrics, COUNTS, COUNTS, COUNTS)
ENTRIES: st.SearchStrategy[Entry] = st.one_of(
    st.builds(IndexEntry, many(RECORDS), st.none() | many(REFS), st.booleans()),
    st.builds(SummaryEntry, TEXT, st.builds(SummaryDetails, many(REFS), TUPLES, COUNTS, TIMES), TIMES, st.booleans()),
    aliases(),
    st.builds(SkipEntry, st.sampled_from(SkipReason), many(st.builds(SkippedCall, IDS, st.none() | TIMES, NUMBERS))),
    st.builds(FrontierEntry, FRONTIERS),
    st.builds(StatsEntry, st.builds(Stats, COUNTS, COUNTS, st.floats(0, 9), COUNTS, COUNTS, COUNTS)),
    CHAINS,
    st.builds(DiagnosticEntry, TEXT, TEXT),
    st.builds(FlushMetricsEntry, TIMES, TEXT, COUNTS, COUNTS, TEXT, METRICS, TEXT),
    st.builds(PinEntry, TUPLES, st.none() | TIMES, st.booleans()),
)


@given(ENTRIES)
def test_an_entry_that_is_written_is_read_back(entry: Entry) -> None:
    """Nothing that a rule looks at is lost on the way through a file."""
    value = entry_to_pi(entry)
    assert value is not None
    if isinstance(entry, SummaryEntry):
        assert entry.timestamp_ms is not None
        value["timestamp"] = iso_time(entry.timestamp_ms)
    read = entry_from_pi(json.loads(json.dumps(value)))
    if isinstance(entry, AliasEntry):
        assert isinstance(read, AliasEntry)
        assert (read.new_key, read.original_key, read.record) == (entry.new_key, entry.original_key, entry.record)
    else:
        assert read == entry


def test_what_a_file_brought_along_has_no_entry_of_its_own() -> None:
    """It is written as the lines that it holds."""
    assert entry_to_pi(CarriedEntry(b"")) is None


@given(st.integers())
def test_every_time_has_a_text(time_ms: int) -> None:
    """Times that no calendar has are written as the nearest that it has."""
    read = entry_time_ms(iso_time(time_ms))
    assert read is not None
    assert read == time_ms or abs(read) < abs(time_ms)


def test_times_are_written_as_hosts_write_them() -> None:
    """Milliseconds and Z, always."""
    assert iso_time(1_733_234_567_890) == "2024-12-03T14:02:47.890Z"
    assert iso_time(0) == "1970-01-01T00:00:00.000Z"


def test_a_record_is_written_complete() -> None:
    """What makes a record a copy of a file's text stays with it."""
    record = Record("a", "bash", False, 1, 2, spill_path="/x", spilled=True, content_hash="ff", text="", args_json="{}")
    value = entry_to_pi(IndexEntry((record,)))
    assert value is not None
    assert entry_from_pi(value) == IndexEntry((record,))
