"""The index: a replay of entries, whose answers do not depend on when an entry was taken in."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.batches import Call, Record, RecordContext, Ref, SummaryDetails, record_of
from condense_grpc.domain.entries import (
    AliasEntry,
    ChainEntry,
    DiagnosticEntry,
    Entry,
    IndexEntry,
    SkipEntry,
    SkippedCall,
    SkipReason,
    SummaryEntry,
)
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.messages import ImagePart
from condense_grpc.domain.occurrence import Numbering, ParsedKey, occurrence_key
from condense_grpc.domain.pi_entries import entry_from_pi
from condense_grpc.domain.spill import original_of, spill_calls

CONTEXT = RecordContext(0, 1)
PICTURE = ImagePart("image/png", b"x")


def call(tool_call_id: str, time: int | None = None, number: int | None = None, text: str = "out") -> Call:
    return Call(tool_call_id, "bash", "{}", text, result_timestamp_ms=time, occurrence=number)


def record(tool_call_id: str, time: int | None = None, number: int | None = None, text: str = "out") -> Record:
    return record_of(call(tool_call_id, time, number, text), CONTEXT)


def ref(short_id: str, one: Record) -> Ref:
    return Ref(short_id, one.tool_call_id, one.result_timestamp_ms, one.occurrence)


def answers(index: SessionIndex, names: list[str]) -> dict[str, Any]:
    """Everything that the index says about these names."""
    asked: list[Callable[[str], Any]] = [
        index.is_summarized,
        index.is_settled,
        index.is_alias,
        index.is_skipped,
        index.original_of,
        index.legacy_bare,
        index.resolve,
        index.record,
        index.record_of_key,
        index.records,
        index.short_ref,
        lambda name: index.summary_texts([name]),
        lambda name: index.covers_any([name]),
        index.chain_by_block,
    ]
    said: dict[str, Any] = {name: [ask(name) for ask in asked] for name in names}
    said[""] = (index.next_ref_number, index.next_block_number, index.chains, index.refs_for(names))
    return said


@st.composite
def calls(draw: st.DrawFn) -> list[Call]:
    """Calls as a session meets them: ids and times repeat, keys do not."""
    numbering = Numbering()
    made = []
    for _ in range(draw(st.integers(0, 12))):
        tool_call_id, time = draw(st.sampled_from(["a", "b", "", "t1", "a@1"])), draw(st.none() | st.integers(1, 3))
        text = draw(st.sampled_from(["one", "two", "three", "\ud800"]))
        one = call(tool_call_id, time, numbering.take(tool_call_id, time), text)
        picture = (PICTURE,) if draw(st.integers(0, 5)) == 0 else ()
        made.append(replace(one, is_error=draw(st.booleans()), parts=picture))
    return made


@given(calls(), st.data())
def test_a_rebuilt_index_answers_as_the_one_that_grew(made: list[Call], data: st.DataObject) -> None:
    """Rebuilding takes aliases last; growing takes them as they come. Nobody sees the difference."""
    grown = SessionIndex()
    log: list[Entry] = []
    for number, one in enumerate(made):
        filed = record_of(one, CONTEXT)
        original = original_of(grown, filed)
        text = f"summary {number}"
        summary = SummaryEntry(text, SummaryDetails((ref(f"t{grown.next_ref_number}", filed),)))
        entries: dict[str, list[Entry]] = {
            "summary": [summary, IndexEntry((filed,))],
            "archive": [IndexEntry((filed,), (ref(f"t{grown.next_ref_number}", filed),), backfilled=True)],
            "skip": [SkipEntry(SkipReason.TRIVIAL, (SkippedCall(*one_identity(one)),))],
            "chain": [ChainEntry(f"b{grown.next_block_number}", 5, start_digest=f"d{number}")],
            "other": [DiagnosticEntry("kind", "detail")],
        }
        if original is not None:
            entries["alias"] = [AliasEntry(filed.key, original, filed)]
        for entry in entries[data.draw(st.sampled_from(sorted(entries)))]:
            grown.apply(entry)
            log.append(entry)
    names = ["a", "b", "t1", "t2", "b1", *(one.key for one in made)]
    assert answers(SessionIndex.rebuild(log), names) == answers(grown, names)


def one_identity(one: Call) -> tuple[str, int | None, int | None]:
    return one.tool_call_id, one.result_timestamp_ms, one.occurrence


@given(calls(), st.booleans())
def test_a_spill_is_replayed_from_its_entries(made: list[Call], dedup: bool) -> None:
    """The entries say everything that spilling did to the index, and nothing is dealt with twice."""
    index = SessionIndex()
    outcome = spill_calls(index, made, CONTEXT, threshold=4, preview_bytes=2, dedup=dedup)
    replayed = SessionIndex()
    for entry in outcome.entries:
        replayed.apply(entry)
    names = ["a", "b", "t1", "t2", *(one.key for one in made)]
    assert answers(replayed, names) == answers(index, names) == answers(SessionIndex.rebuild(outcome.entries), names)
    for one in made:
        assert index.is_summarized(one.key) == (len(one.result_text) >= 4)
        if index.is_summarized(one.key):  # a key that looks like its own ref has no other
            assert index.resolve(index.short_ref(one.key) or one.key) is not None
    again = spill_calls(index, made, CONTEXT, threshold=4, preview_bytes=2, dedup=dedup)
    assert (again.entries, again.handled) == ((), ())


def test_a_spilled_duplicate_follows_its_original() -> None:
    """Within one call of the rule too: the second of two equal results shares the first one's ref."""
    index = SessionIndex()
    made = [call("a", 1, text="big"), call("b", 2, text="big"), call("c", 3, text="big")]
    made[2] = replace(made[2], parts=(PICTURE,))
    outcome = spill_calls(index, made, CONTEXT, threshold=3, preview_bytes=9, dedup=True)
    filed, alias = outcome.entries
    assert isinstance(filed, IndexEntry) and isinstance(alias, AliasEntry)
    assert [one.key for one in filed.records] == ["a@1", "c@3"]
    assert (alias.new_key, alias.original_key) == ("b@2", "a@1")
    assert index.refs_for(["a@1", "b@2", "c@3"]) == ["t1", "t1", "t2"]
    assert index.original_of("b@2") == "a@1" and index.original_of("a@1") is None
    assert outcome.handled == ("a", "b", "c")


def test_an_alias_without_record_needs_its_original() -> None:
    """It may stand before it in a log, but one that never comes makes no alias."""
    alias = AliasEntry("b@2", "a@1")
    assert not SessionIndex.rebuild([alias]).is_summarized("b@2")
    index = SessionIndex.rebuild([alias, IndexEntry((record("a", 1),), (Ref("t4", "a", 1),))])
    assert index.is_settled("b@2") and index.is_alias("b@2")
    assert index.resolve("b@2") == "a@1" and index.resolve("b") is None
    assert [one.key for one in index.records("b")] == ["b@2"]
    assert index.short_ref("b@2") == "t4" and index.next_ref_number == 5


def test_an_id_that_looks_like_a_key_stays_an_id() -> None:
    """An alias names the id beside the key where the key alone would be read otherwise."""
    data = {"newToolCallId": "x@7", "originalToolCallId": "a", "originalResultTimestamp": 1}
    alias = entry_from_pi({"type": "custom", "customType": "context-prune-dedup-alias", "data": data})
    assert alias == AliasEntry("x@7", "a@1", None, ParsedKey("x@7"))
    index = SessionIndex.rebuild([IndexEntry((record("a", 1),)), alias])
    assert [one.tool_call_id for one in index.records("x@7")] == ["x@7"]
    assert index.records("x") == []


def test_chains_with_one_start_time_do_not_replace_each_other() -> None:
    """Digests tell them apart; the time decides only for entries without digest."""
    first, second = (ChainEntry(f"b{number}", 5, start_digest=f"d{number}") for number in (1, 2))
    imported = ChainEntry("b7", 5)
    index = SessionIndex.rebuild([first, imported, second])
    assert index.chains == (first, imported, second)
    assert index.chain_at("d2", 5) is second and index.chain_at("d9", 5) is imported
    assert index.chain_at("d9", 6) is None and index.chain_at("", None) is None
    assert index.next_block_number == 8
    index.add_chain(replace(second, block_id="b3"))
    assert [chain.block_id for chain in index.chains] == ["b1", "b7", "b3"]
    assert index.chain_by_block("b2") is None


def test_only_registering_takes_ref_numbers() -> None:
    """Foreign names and names of unreadable length take none."""
    index = SessionIndex()
    index.register_refs([Ref("", "a"), Ref("t9" * 3, "a"), Ref("x", "a"), Ref("t" + "9" * 5000, "a"), Ref("t٣", "a")])
    assert index.next_ref_number == 1
    index.register_refs([Ref("t3", "t3")])
    assert index.next_ref_number == 4 and index.short_ref("t3") is None


def test_texts_may_be_absent() -> None:
    """A record in the service knows its content hash, not its text."""
    lean = record("a", 1)._replace(text=None, args_json=None)
    index = SessionIndex.rebuild([IndexEntry((lean,))])
    assert lean.content_key is not None
    assert index.by_content(*lean.content_key) == "a@1"
    assert original_of(index, record("b", 2)) == "a@1" and original_of(index, record("a", 1)) is None


BAD_MEMBERS: list[Any] = [None, 5, "x", [], {}, True, [None, 5, "x", {}], {"a": 1}, "b" + "9" * 5000, 1.5, -1, "\ud800"]
KINDS = ["index", "dedup-alias", "skip", "frontier", "stats", "chain", "diagnostic", "flush-metrics", "else"]
NAMES = ["toolCalls", "refs", "newToolCallId", "originalToolCallId", "record", "calls", "blockId", "startUserTimestamp"]
NAMES += ["toolCallId", "shortId", "resultTimestamp", "occurrence", "resultText", "args", "contentHash", "metrics"]
VALUES = st.recursive(
    st.sampled_from(BAD_MEMBERS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), VALUES | st.dictionaries(st.sampled_from(NAMES), VALUES)), max_size=6)
)
def test_malformed_entries_never_fail_a_load(raw: list[tuple[str, Any]]) -> None:
    """What cannot be read is left out; whatever is left answers."""
    values = [{"type": "custom", "customType": f"context-prune-{kind}", "data": data} for kind, data in raw]
    summaries = [
        {"type": "custom_message", "customType": "context-prune-summary", "content": data, "details": data}
        for _, data in raw
    ]
    entries = [entry_from_pi(value) for value in [*values, *summaries, *(data for _, data in raw)]]
    index = SessionIndex.rebuild(entry for entry in entries if entry is not None)
    answers(index, ["x", "", "\ud800", "a@5"])


@pytest.mark.parametrize("count", [100_000])
def test_one_id_for_a_whole_session(count: int) -> None:
    """Providers without ids send empty ones; filing and looking up still cost the same for each."""
    base = record("", 0)
    index = SessionIndex()
    for time in range(count):
        index.file_record(base._replace(result_timestamp_ms=time), register_content=True)
        index.remember_summary([occurrence_key("", time)], "text")
    assert index.resolve("") is None and index.resolve(f"@{count - 1}") == f"@{count - 1}"
    assert len(index.records("")) == count
    assert index.summary_texts([f"@{count - 1}", "@0"]) == ["text"]
    assert [index.summary_keys(number) for number in index.summaries_sharing(["@5"])] == [("@5",)]
