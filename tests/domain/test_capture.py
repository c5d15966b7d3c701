"""Capture: what a scan of the branch finds, from where it may start, and what a batch says."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.batches import Batch, Source
from condense_grpc.domain.capture import (
    CapturedBatch,
    branch_view,
    capture_batch,
    find_batches,
    group_batches,
    group_runs,
    hydrate,
)
from condense_grpc.domain.config import BatchingMode
from condense_grpc.domain.messages import Message, Role, TextPart, ToolCallPart
from condense_grpc.domain.pairing import Pairs, keys_of
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import MessageSkeleton, skeletons_of

IDS = st.sampled_from(["a", "b", "", "a@5"])
TIMES = st.none() | st.integers(0, 4)
TEXTS = st.text(st.characters(codec=None), max_size=6)


def assistant(*ids: str, text: str = "") -> Message:
    calls = tuple(ToolCallPart(one, "read" if one == "b" else "bash", '{"path":"x"}') for one in ids)
    return Message(Role.ASSISTANT, (TextPart(text), *calls), 1)


def result(tool_call_id: str, timestamp_ms: int | None = 2, text: str = "out") -> Message:
    return Message(Role.TOOL_RESULT, (TextPart(text),), timestamp_ms, tool_call_id, "bash")


MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda ids, text: assistant(*ids, text=text), st.lists(IDS, max_size=3), TEXTS),
        st.builds(result, IDS, TIMES, TEXTS),
        st.builds(lambda time: Message(Role.USER, (TextPart("go"),), time), TIMES),
        st.builds(lambda: Message(Role.CUSTOM, custom_role="custom", custom_type="note")),
    ),
    max_size=24,
)
OPEN = Protection()


def scan(messages: list[Message], settled: set[str] | None = None) -> list[CapturedBatch]:
    return find_batches(branch_view(skeletons_of(messages, ["path"])), (settled or set()).__contains__, OPEN)


@given(MESSAGES, st.sets(st.sampled_from(["a@2", "b@2", "a", "@1", "a@2#2"])))
def test_a_scan_from_the_first_open_turn_finds_what_a_whole_scan_finds(
    messages: list[Message], settled: set[str]
) -> None:
    """The first batch says where later scans may start; nothing before it was ready."""
    branch = branch_view(skeletons_of(messages, ["path"]))
    whole = find_batches(branch, settled.__contains__, OPEN)
    for first, batch in enumerate(whole):
        assert find_batches(branch, settled.__contains__, OPEN, batch.scan_start) == whole[first:]


@given(MESSAGES, st.integers(0, 30))
def test_pairs_from_the_scan_start_are_enough(messages: list[Message], cut: int) -> None:
    """An assistant message opens a turn of its own, so that pairs need not reach back behind it."""
    branch = branch_view(skeletons_of(messages, ["path"]))
    whole = find_batches(branch, set[str]().__contains__, OPEN)
    for batch in whole:
        late = type(branch)(branch.messages, branch.keys, branch.numbers, Pairs(branch.messages, batch.position))
        assert find_batches(late, set[str]().__contains__, OPEN, batch.scan_start) == [
            one for one in whole if one.position >= batch.position
        ]


@given(MESSAGES)
def test_every_captured_result_answers_its_call_in_its_turn(messages: list[Message]) -> None:
    """No result is taken twice, each has the id of its call, and no assistant message stands in between."""
    skeletons = skeletons_of(messages, ["path"])
    keys, numbers = keys_of(skeletons)
    taken: list[int] = []
    for batch in scan(messages):
        for call in batch.calls:
            between = messages[batch.position + 1 : call.result_position]
            assert all(message.role is not Role.ASSISTANT for message in between)
            answer = skeletons[call.result_position]
            assert answer.tool_call_id == skeletons[batch.position].calls[call.ordinal].id
            assert (call.key, call.occurrence) == (keys[call.result_position], numbers[call.result_position])
            taken.append(call.result_position)
    assert len(taken) == len(set(taken))


@given(MESSAGES)
def test_settling_what_was_captured_leaves_nothing(messages: list[Message]) -> None:
    """The same call is never captured twice, and settling one call touches no other."""
    captured = [call.key for batch in scan(messages) for call in batch.calls]
    assert scan(messages, set(captured)) == []
    for key in captured:
        left = [call.key for batch in scan(messages, {key}) for call in batch.calls]
        assert left == [one for one in captured if one != key]


@given(MESSAGES)
def test_hydrating_gives_the_texts_of_the_captured_results(messages: list[Message]) -> None:
    """Texts come from the bodies as they are, lone surrogates included; sources name the positions."""
    for captured in scan(messages):
        batch = hydrate(captured, messages.__getitem__, 7, Source)
        assert (batch.turn_index, batch.timestamp_ms, batch.group) == (captured.turn_index, 7, captured.group)
        for call, one in zip(captured.calls, batch.calls, strict=True):
            assert one.key == call.key
            assert one.result_text == "\n".join(
                part.text for part in messages[call.result_position].parts if isinstance(part, TextPart)
            )
            assert one.source == Source(captured.position, call.ordinal, call.result_position)


@given(MESSAGES, st.sampled_from(BatchingMode))
def test_grouping_keeps_every_call_in_order(messages: list[Message], mode: BatchingMode) -> None:
    """Groups differ between neighbours after merging; the calls and their order stay; counting needs no bodies."""
    captured = scan(messages)
    batches = [hydrate(one, messages.__getitem__, 0) for one in captured]
    grouped = group_batches(batches, mode)
    assert [call for batch in grouped for call in batch.calls] == [call for one in batches for call in one.calls]
    assert len(grouped) == len(group_runs(captured, mode))
    if mode is BatchingMode.AGENT_MESSAGE:
        assert all(one.group != other.group for one, other in pairwise(grouped))
    else:
        assert grouped == batches


def test_a_batch_without_group_ends_the_run() -> None:
    """It passes through alone, and the group behind it starts anew."""
    batches = [Batch(number, 0, "", (), group) for number, group in enumerate([1, 1, None, None, 1])]
    merged = group_batches(batches, BatchingMode.AGENT_MESSAGE)
    assert [(batch.turn_index, batch.group) for batch in merged] == [(1, 1), (2, None), (3, None), (4, 1)]


JUNK: list[Any] = [
    None,
    "text",
    7,
    [],
    {},
    {"role": "assistant"},
    {"role": "assistant", "content": "text"},
    {"role": "assistant", "content": [None, "x", {"type": "toolCall"}, {"type": "toolCall", "id": 5, "name": None}]},
    {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "bash", "arguments": "not json {"}]},
    {"role": "toolResult"},
    {"role": "toolResult", "toolCallId": None, "content": None, "timestamp": "soon"},
    {"role": "toolResult", "toolCallId": "a", "content": [None, {"type": "text"}, {"type": "text", "text": "\ud800"}]},
    {"role": "user", "content": None},
]


@given(st.lists(st.sampled_from(JUNK), max_size=12))
def test_malformed_messages_are_read_as_empty(values: list[Any]) -> None:
    """Nothing in a branch makes a scan fail; a missing id is the empty string and pairs by order."""
    messages = [message_from_pi(value) for value in values]
    for captured in scan(messages):
        batch = hydrate(captured, messages.__getitem__, 0)
        assert all(isinstance(call.args_json, str) and call.result_text in ("", "\n\ud800") for call in batch.calls)
    for message in messages:
        assert capture_batch(message, messages, 0, 0).timestamp_ms == 0


@pytest.mark.parametrize("count", [200_000])
def test_a_long_branch_is_scanned_in_one_pass(count: int) -> None:
    """Settled turns cost a lookup each, also when they all share one id."""
    call = skeletons_of([assistant("a")], ["path"])[0]
    answer = MessageSkeleton(Role.TOOL_RESULT, None, 10, tool_call_id="a")
    branch = branch_view([call, answer] * count)
    last = branch.keys[-1]
    found = find_batches(branch, lambda key: key != last, OPEN)
    assert [(batch.turn_index, batch.calls[0].occurrence) for batch in found] == [(count - 1, count)]
