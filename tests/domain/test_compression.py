"""Compression: nothing is lost, nothing is done twice, and no body is read that was not asked for."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.archive import build_deterministic_body
from condense_grpc.domain.batches import Record, Ref, Source, SummaryDetails
from condense_grpc.domain.chain_body import block_body, synthetic_text
from condense_grpc.domain.chain_survey import CompressionInput, bodies_wanted, fusible_chains
from condense_grpc.domain.compression import SkippedChainReason, compress
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.entries import AliasEntry, ChainEntry, Entry, IndexEntry, SummaryEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.messages import Message, Role
from condense_grpc.domain.pairing import Pairs, keys_of, view_order
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import skeletons_of
from tests.domain.histories import (
    answer,
    calls,
    malformed_lists,
    messy_histories,
    notice,
    result,
    stamped_histories,
    user,
)

CONFIG = SessionConfig(recovery_grace_turns=0, protected_tools=("keep",), protected_paths=("*.md",))


def as_source(call: int, ordinal: int, found: int) -> Source:
    return Source(call, ordinal, found)


def source_of(
    messages: list[Message], entries: list[Entry] | None = None, *, digests: bool = True, **members: Any
) -> CompressionInput:
    """A transcript of the service: digests by position, and records that name their messages."""
    given_members: dict[str, Any] = {
        "messages": skeletons_of(messages, CONFIG.path_arguments),
        "index": SessionIndex.rebuild(entries or []),
        "config": CONFIG,
        "now_ms": 1000,
        "rolling_window": 0,
        "message_at": messages.__getitem__,
        "args_of": lambda record: record.args_json or "{}",
    }
    if digests:
        given_members |= {
            "source_of": as_source,
            "digest_at": lambda position: f"d{position}",
        }
    return CompressionInput(**given_members | members)


def summary(text: str, *refs: Ref) -> list[Entry]:
    records = tuple(Record(ref.tool_call_id, "bash", False, 0, 1, ref.result_timestamp_ms, text="x") for ref in refs)
    return [SummaryEntry(text, SummaryDetails(refs)), IndexEntry(records)]


@st.composite
def decided(draw: st.DrawFn, histories: st.SearchStrategy[list[Message]]) -> tuple[list[Message], list[Entry]]:
    """A history, and summaries and duplicates for some of its results."""
    messages = draw(histories)
    skeletons = skeletons_of(messages, CONFIG.path_arguments)
    keys, numbers = keys_of(skeletons)
    entries: list[Entry] = []
    originals: list[str] = []
    for position, key in enumerate(keys):
        fate = draw(st.sampled_from(["raw", "raw", "summarized", "alias", "unnamed"])) if key else "raw"
        one = skeletons[position]
        record = Record(
            one.tool_call_id, one.tool_name, False, 0, 1, one.timestamp_ms, numbers[position], text="x", args_json="{}"
        )
        if fate == "summarized":
            ref = Ref(f"t{position}", one.tool_call_id, one.timestamp_ms, numbers[position])
            text = draw(st.sampled_from(["one", "two", "three"]))
            entries += [SummaryEntry(text, SummaryDetails((ref,))), IndexEntry((record,))]
        elif fate == "unnamed":
            entries.append(IndexEntry((record,)))
        elif fate == "alias" and originals:
            entries.append(AliasEntry(key, draw(st.sampled_from(originals)), record))
        if fate in ("summarized", "unnamed"):
            originals.append(key)
    return messages, entries


@given(decided(stamped_histories), st.integers(0, 2))
def test_every_result_of_a_compressed_chain_can_be_asked_for(
    case: tuple[list[Message], list[Entry]], window: int
) -> None:
    """Each result that a block stands for has a ref in it and a record, is protected, or belongs to no call."""
    messages, entries = case
    source = source_of(messages, entries, rolling_window=window)
    outcome = compress(source)
    order = view_order(source.messages)
    shown = [source.messages[position] for position in order]
    keys, _ = keys_of(source.messages)
    for block in outcome.blocks:
        start, final = (order.index(int(digest[1:])) for digest in (block.start_digest, block.final_digest))
        called: set[str] = set()
        for place in range(start + 1, final):
            one, key = shown[place], keys[order[place]]
            called |= {call.id for call in one.calls}
            protected = one.tool_call_id in block.protected_tool_call_ids
            if one.role is Role.TOOL_RESULT and not protected and one.tool_call_id in called:
                ref = source.index.short_ref(key)
                assert ref in block.tool_refs
                assert source.index.record_of_key(key) is not None
                assert source.index.resolve(ref or "") is not None


@given(decided(st.one_of(stamped_histories, messy_histories)), st.booleans())
def test_compressing_again_changes_nothing(case: tuple[list[Message], list[Entry]], digests: bool) -> None:
    """The second run reports every chain that the first one took as compressed, and writes nothing."""
    source = source_of(*case, digests=digests)
    first = compress(source)
    assert compress(source).entries == ()
    skipped = {chain.start_user_timestamp_ms for chain in compress(source).skipped}
    assert {block.start_user_timestamp_ms for block in first.blocks} <= skipped | {0}


@given(decided(stamped_histories))
def test_replay_of_the_entries_gives_the_same_index(case: tuple[list[Message], list[Entry]]) -> None:
    """The entries alone bring back refs, records and chains."""
    messages, entries = case
    source = source_of(messages, entries)
    outcome = compress(source)
    replayed = SessionIndex.rebuild([*entries, *outcome.entries])
    assert replayed.chains == source.index.chains
    assert replayed.next_ref_number == source.index.next_ref_number
    for key in filter(None, keys_of(source.messages)[0]):
        assert replayed.short_ref(key) == source.index.short_ref(key)
        assert replayed.record_of_key(key) == source.index.record_of_key(key)


def only(allowed: set[int], messages: list[Message]) -> Callable[[int], Message]:
    def message_at(position: int) -> Message:
        assert position in allowed
        return messages[position]

    return message_at


@given(decided(stamped_histories))
def test_only_wanted_bodies_are_read(case: tuple[list[Message], list[Entry]]) -> None:
    """What `bodies_wanted` names is enough, although records hold neither text nor arguments."""
    messages, entries = case
    bare = [
        replace(entry, records=tuple(record._replace(text=None, args_json=None) for record in entry.records))
        if isinstance(entry, IndexEntry)
        else replace(entry, record=entry.record._replace(text=None, args_json=None))
        if isinstance(entry, AliasEntry) and entry.record
        else entry
        for entry in entries
    ]
    source = source_of(messages, bare)
    wanted = bodies_wanted(source)
    arguments = {record.key: '{"n": 1}' for record in wanted.records}
    compress(
        replace(
            source,
            message_at=only(set(wanted.positions), messages),
            args_of=lambda record: arguments[record.key],
        )
    )


@given(malformed_lists)
def test_malformed_lists_never_raise(values: list[Any]) -> None:
    """Whatever stands in a list, compressing it gives an outcome."""
    messages = [message_from_pi(value) for value in values]
    for digests in (False, True):
        source = source_of(messages, digests=digests)
        fusible_chains(source)
        bodies_wanted(source)
        compress(source)


def work(start: int, tool_call_id: str, *, shift: int = 1, **members: Any) -> list[Message]:
    return [
        user(start),
        calls(start + shift, tool_call_id),
        result(start + 2 * shift, tool_call_id, **members),
        answer(start + 3 * shift),
    ]


def test_chains_with_equal_times_are_compressed_apart() -> None:
    """Two chains with the same times get a block and a ref each; without digests neither can be told."""
    messages = work(1, "a") + work(1, "b")
    outcome = compress(source_of(messages))
    assert [(block.block_id, block.tool_refs) for block in outcome.blocks] == [("b1", ("t1",)), ("b2", ("t2",))]
    unnamed = compress(source_of(messages, digests=False))
    assert unnamed.blocks == ()
    assert [item.detail for item in unnamed.diagnostics] == ["middles=1", "middles=1"]


def test_chain_without_times_is_compressed_only_with_digests() -> None:
    """A list that was never stamped has nothing by which its block could be found again."""
    messages = [user(None), calls(None, "a"), result(None, "a"), answer(None)]
    assert compress(source_of(messages, digests=False)).blocks == ()
    (block,) = compress(source_of(messages)).blocks
    assert (block.start_digest, block.final_digest) == ("d0", "d3")


def test_archived_records_name_their_messages() -> None:
    """With stored messages a record holds no bodies; source positions are those of the transcript."""
    messages = [user(1), calls(2, "a", "b"), result(3, "a"), notice(4), result(5, "b", "x" * 9), answer(6)]
    outcome = compress(source_of(messages, config=replace(CONFIG, spill_threshold=9, spill_preview_bytes=4)))
    archive = outcome.entries[0]
    assert isinstance(archive, IndexEntry)
    first, second = archive.records
    assert (first.source, second.source) == (Source(1, 0, 2), Source(1, 1, 4))
    assert (first.text, first.args_json, first.text_chars) == (None, None, 3)
    assert (first.spilled, second.spilled, second.spill_bytes, second.result_preview) == (False, True, 9, "xxxx")


def test_deterministic_body_shows_arguments_of_archived_calls() -> None:
    """The arguments come from the message, although the record does not hold them."""
    (block,) = compress(source_of(work(1, "a"))).blocks
    assert block.range_summary_text is not None
    assert 'First: bash {"n":1}' in block.range_summary_text


def test_pending_chain_waits_for_the_next_flush() -> None:
    """A chain with a call that is pending again stays."""
    messages = work(1, "a") + work(11, "b")
    outcome = compress(source_of(messages, pending={"a@3"}))
    assert [block.start_user_timestamp_ms for block in outcome.blocks] == [11]


TWO_SUMMARIES = [*summary("first", Ref("t1", "a", 3)), *summary("second", Ref("t2", "b", 5))]
TWO_BATCHES = [user(1), calls(2, "a"), result(3, "a"), calls(4, "b"), result(5, "b"), answer(6)]


def test_summaries_of_a_chain_are_offered_for_fusing() -> None:
    """A chain with several summaries asks for one text, and asking changes nothing."""
    source = source_of(TWO_BATCHES, TWO_SUMMARIES)
    assert [(chain.start_key, chain.text) for chain in fusible_chains(source)] == [("d0", "first\n\nsecond")]
    assert source.index.chains == ()


def test_single_summary_is_not_fused() -> None:
    """One text needs no fusing."""
    assert fusible_chains(source_of(work(1, "a"), summary("one", Ref("t1", "a", 3)))) == []


def test_fused_text_is_taken_as_it_is() -> None:
    """The answer of a fuser becomes the body, untrimmed."""
    (block,) = compress(source_of(TWO_BATCHES, TWO_SUMMARIES), {"d0": " fused "}).blocks
    assert (block.range_summary_text, block.is_fused) == (" fused ", True)


def test_blank_or_missing_answer_leaves_the_summaries() -> None:
    """A fuser that failed or said nothing costs nothing."""
    for fused in ({"d0": " \n"}, {"d0": None}, {}):
        (block,) = compress(source_of(TWO_BATCHES, TWO_SUMMARIES), fused).blocks
        assert block.range_summary_text is None


def test_result_beside_summaries_is_archived_and_named() -> None:
    """A covered chain names the refs that no summary speaks of."""
    (block,) = compress(source_of(TWO_BATCHES, TWO_SUMMARIES[:2])).blocks
    assert block.tool_refs == ("t1", "t2")
    assert [(item.ref, item.tool) for item in block.archived_refs] == [("t2", "bash")]


def test_chain_of_protected_results_is_left_without_diagnostic() -> None:
    """Nothing to archive because everything is protected is no oddity."""
    outcome = compress(source_of([user(1), calls(2, "a", tool="keep"), result(3, "a", tool="keep"), answer(4)]))
    assert [chain.reason for chain in outcome.skipped] == [SkippedChainReason.NO_SUMMARY]
    assert outcome.diagnostics == ()


def test_own_block_in_the_transcript_opens_no_chain() -> None:
    """A host that stored our view sends blocks back; they are neither chains nor ends of chains."""
    done = ChainEntry("b1", 1, ("a",), 4, ("t1",), 900, range_summary_text="body", start_digest="d0", final_digest="d2")
    index = SessionIndex.rebuild([done])
    block = user(900, synthetic_text(done, block_body(done, index)))
    outcome = compress(source_of([user(1), block, answer(4), *work(11, "b")], [done]))
    assert [chain.start_user_timestamp_ms for chain in outcome.skipped] == [1]
    assert [made.start_digest for made in outcome.blocks] == ["d3"]


def test_steering_between_call_and_result_does_not_tear_them() -> None:
    """A user message that came before the result stands behind it in view order and opens the next chain there."""
    messages = [user(1), calls(2, "a"), user(3), result(4, "a"), answer(5)]
    source = source_of(messages)
    assert compress(source).blocks == ()
    assert Pairs(source.messages).result_of == {(1, 0): 3}


def test_protection_is_the_one_of_the_settings() -> None:
    """Names and path globs come from the settings of the session."""
    assert Protection(CONFIG.protected_tools, CONFIG.protected_paths).call("bash", ("x.md",))
    messages = [user(1), calls(2, "a", arguments='{"file_path": "x.md"}'), result(3, "a"), *work(4, "b")]
    outcome = compress(source_of([*messages[:3], answer(4), *work(11, "b")]))
    assert [block.protected_tool_call_ids for block in outcome.blocks] == [()]
    assert [chain.start_user_timestamp_ms for chain in outcome.skipped] == [1]


def test_duplicates_without_ref_share_the_one_of_their_original() -> None:
    """A filed result without ref and its duplicates get one ref together, also when the original was never filed."""
    filed = Record("a", "bash", False, 0, 1, 3, text="x", args_json="{}")
    copy = filed._replace(tool_call_id="b", result_timestamp_ms=5)
    for entries in ([IndexEntry((filed,)), AliasEntry("b@5", "a@3", copy)], [AliasEntry("b@5", "a@3", copy)]):
        source = source_of(TWO_BATCHES, entries)
        (block,) = compress(source).blocks
        assert block.tool_refs == ("t1",)
        assert source.index.short_ref("a@3") == source.index.short_ref("b@5") == "t1"


def test_deterministic_body_never_fails() -> None:
    """No records, or times that no calendar knows, still make a text."""
    assert build_deterministic_body([], ["t1"], lambda record: "").endswith("Calls: 0\nTools: \nRefs: t1")
    ancient = Record("a", "bash", False, 0, -(10**17), args_json="{}")
    body = build_deterministic_body([ancient], [], lambda record: "not json")
    assert body.endswith('Last: bash "not json"\nRefs: a')
