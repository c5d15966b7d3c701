"""The tool calls of a session one by one: what became of each, and what its result measures."""

import hashlib
from collections.abc import Iterable

from condense_grpc.domain.batches import Record, Source
from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.messages import Role, TextPart
from condense_grpc.domain.pairing import Pairs
from condense_grpc.domain.recovery import RecordBody
from condense_grpc.domain.text import utf8
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.recall import record_bodies
from condense_grpc.engine.requests import CallFacts, CallState
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.summaries import blocks_of, summary_id


class Calls:
    """The results of a session as it stands, each with its call. Made for one question, under the session's lock."""

    def __init__(self, state: SessionState) -> None:
        self._transcript = state.transcript
        self._index = state.decisions.index
        self._call_of = Pairs(state.transcript.skeletons).call_of
        assistants = (place for place, one in enumerate(state.transcript.skeletons) if one.role is Role.ASSISTANT)
        self._turns = {place: turn for turn, place in enumerate(assistants)}

    def all(self) -> list[Record]:
        """A record for every result, in order. A stray one has no call to show."""
        return [self._record(place) for place in range(len(self._transcript)) if self._is_result(place)]

    def find(self, name: str) -> list[Record]:
        """The records that a name stands for, also those that no flush has filed.

        An occurrence key stands for its own result, whether that answers a call or not. A short ref and an id stand
        for what the index says; an id also for results that are not filed.
        """
        keys, filed = self._transcript.keys, self._index.records(name)
        places = [place for place, key in enumerate(keys) if key == name and self._is_result(place)]
        if places:
            return [self._record(place) for place in places]
        if any(record.tool_call_id != name for record in filed):
            return filed
        known = {record.key for record in filed}
        named = enumerate(self._transcript.skeletons)
        places = [place for place, one in named if one.tool_call_id == name and keys[place] not in known]
        return filed + [self._record(place) for place in places if self._is_result(place)]

    def _is_result(self, place: int) -> bool:
        return self._transcript.skeletons[place].role is Role.TOOL_RESULT

    def _record(self, result: int) -> Record:
        """The record of a result: as it is filed, or else made of what is known."""
        transcript = self._transcript
        filed = self._index.record_of_key(transcript.keys[result])
        if filed is not None:
            return filed
        answer, call_at = transcript.skeletons[result], self._call_of.get(result)
        if call_at is None:
            asked, turn, time_ms, call_node, ordinal = None, None, answer.timestamp_ms, 0, 0
        else:
            call, ordinal = call_at
            asked, turn = transcript.skeletons[call].calls[ordinal], self._turns[call]
            time_ms, call_node = transcript.skeletons[call].timestamp_ms, transcript.nodes[call]
        return Record(
            tool_call_id=answer.tool_call_id,
            tool_name=asked.name if asked else answer.tool_name,
            is_error=answer.is_error,
            turn_index=turn,
            timestamp_ms=time_ms,
            result_timestamp_ms=answer.timestamp_ms,
            occurrence=transcript.numbers[result],
            text_chars=answer.text_chars,
            has_other_parts=bool(answer.images or answer.other_parts),
            paths=asked.paths if asked else (),
            source=Source(call_node, ordinal, transcript.nodes[result]),
        )


async def facts_of(bodies: BodyCache, state: SessionState, records: Iterable[Record]) -> list[CallFacts]:
    """What there is to say about records. Measures come from the stored texts."""
    listed = list(records)
    texts = await record_bodies(bodies, state, listed)
    blocks = blocks_of(state)
    return [_facts(state, record, texts[record.key], blocks) for record in listed]


def _facts(state: SessionState, record: Record, body: RecordBody, blocks: dict[str, ChainEntry]) -> CallFacts:
    index, key, text = state.decisions.index, record.key, body.text
    data = utf8(text)
    summaries = index.summaries_sharing([index.original_of(key) or key])
    block = blocks.get(key)
    return CallFacts(
        record=record,
        ref=index.short_ref(key) or "",
        state=state_of(state, record, block, covered=bool(summaries)),
        duplicate_of=index.original_of(key) or "",
        summary_id=summary_id(summaries[0]) if summaries else "",
        block_id=block.block_id if block else "",
        text_chars=len(text),
        text_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        arguments_json=body.args_json,
        parts=tuple(part for part in body.parts if not isinstance(part, TextPart)),
        pin=index.pins.find(key),
    )


def state_of(state: SessionState, record: Record, block: ChainEntry | None, *, covered: bool) -> CallState:
    """What has become of a result. `covered`: a summary stands for it; `block`: the chain that it went into."""
    index, key = state.decisions.index, record.key
    is_kept = key in index.pins or state.protection.call(record.tool_name, record.paths)
    if is_kept and (block is None or record.tool_call_id in block.protected_tool_call_ids):
        return CallState.SKIPPED if _answers_no_call(record) and key not in index.pins else CallState.PROTECTED
    if index.is_alias(key):
        return CallState.DUPLICATE
    if index.is_summarized(key):
        if record.spilled:
            return CallState.SPILLED
        return CallState.SUMMARIZED if covered else CallState.ARCHIVED
    if index.is_skipped(key) or _answers_no_call(record):
        return CallState.SKIPPED
    return CallState.PROTECTED if is_kept else CallState.PENDING


def _answers_no_call(record: Record) -> bool:
    return record.source is not None and not record.source.call_node
