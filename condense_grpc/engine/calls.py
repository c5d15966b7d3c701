"""The tool calls of a session one by one: what became of each, and what its result measures."""

import hashlib
from collections.abc import Iterable, Mapping

from condense_grpc.domain.batches import Record, Source
from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.messages import Role
from condense_grpc.domain.pairing import Pairs
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.text import utf8
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import protection_of
from condense_grpc.engine.recall import record_bodies
from condense_grpc.engine.requests import CallFacts, CallState
from condense_grpc.engine.state import SessionState


def records_of_transcript(state: SessionState) -> list[Record]:
    """A record for every tool result, in order; filed ones as they are filed. A stray result has no call to show."""
    transcript, index = state.transcript, state.decisions.index
    calls = Pairs(transcript.skeletons).call_of
    turns = {position: number for number, position in enumerate(_assistants(state))}
    found: list[Record] = []
    for position, key in enumerate(transcript.keys):
        if transcript.skeletons[position].role is Role.TOOL_RESULT:
            filed = index.record_of_key(key)
            found.append(filed or _unfiled(state, position, calls.get(position), turns))
    return found


def _unfiled(state: SessionState, result: int, call: tuple[int, int] | None, turns: Mapping[int, int]) -> Record:
    transcript = state.transcript
    answer = transcript.skeletons[result]
    asked = transcript.skeletons[call[0]].calls[call[1]] if call else None
    return Record(
        tool_call_id=answer.tool_call_id,
        tool_name=asked.name if asked else answer.tool_name,
        is_error=answer.is_error,
        turn_index=turns[call[0]] if call else None,
        timestamp_ms=transcript.skeletons[call[0]].timestamp_ms if call else None,
        result_timestamp_ms=answer.timestamp_ms,
        occurrence=transcript.numbers[result],
        text_chars=answer.text_chars,
        has_other_parts=bool(answer.images or answer.other_parts),
        paths=asked.paths if asked else (),
        source=Source(transcript.nodes[call[0]] if call else 0, call[1] if call else 0, transcript.nodes[result]),
    )


def _assistants(state: SessionState) -> Iterable[int]:
    skeletons = state.transcript.skeletons
    return (position for position, message in enumerate(skeletons) if message.role is Role.ASSISTANT)


def find_records(state: SessionState, name: str) -> list[Record]:
    """The records that a ref, an occurrence key or a tool call id names, also those that no flush has filed yet."""
    filed = state.decisions.index.records(name)
    if filed:
        return filed
    return [record for record in records_of_transcript(state) if name in (record.key, record.tool_call_id)]


async def facts_of(bodies: BodyCache, state: SessionState, records: Iterable[Record]) -> list[CallFacts]:
    """What there is to say about records. Measures come from the stored texts."""
    listed = list(records)
    texts = await record_bodies(bodies, state, listed)
    protection = protection_of(state)
    blocks = {key: chain for chain in state.decisions.index.chains for key in chain.dropped_occurrence_keys}
    return [_facts(state, record, texts[record.key].text, protection, blocks) for record in listed]


def _facts(
    state: SessionState, record: Record, text: str, protection: Protection, blocks: dict[str, ChainEntry]
) -> CallFacts:
    index, key = state.decisions.index, record.key
    data = utf8(text)
    summaries = index.summaries_sharing([index.original_of(key) or key])
    block = blocks.get(key)
    return CallFacts(
        record=record,
        ref=index.short_ref(key) or "",
        state=_state_of(state, record, protection, covered=bool(summaries)),
        duplicate_of=index.original_of(key) or "",
        summary_id=f"s{summaries[0] + 1}" if summaries else "",
        block_id=block.block_id if block else "",
        text_chars=len(text),
        text_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _state_of(state: SessionState, record: Record, protection: Protection, *, covered: bool) -> CallState:
    index, key = state.decisions.index, record.key
    if index.is_alias(key):
        return CallState.DUPLICATE
    if index.is_summarized(key):
        if record.spilled:
            return CallState.SPILLED
        return CallState.SUMMARIZED if covered else CallState.ARCHIVED
    if index.is_skipped(key):
        return CallState.SKIPPED
    return CallState.PROTECTED if protection.call(record.tool_name, record.paths) else CallState.PENDING
