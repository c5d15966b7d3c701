"""Flushes and compactions: their requests and their events."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from condense_grpc.api.condense.v1 import flush_event_pb2 as pb
from condense_grpc.api.condense.v1 import flush_pb2
from condense_grpc.domain.entries import Frontier
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.events import (
    BatchFinished,
    BatchProgress,
    BatchStarted,
    ChainCompressed,
    FlushCompleted,
    FlushCounts,
    FlushOutcome,
    FlushStarted,
    Notice,
    NumberedEvent,
)
from condense_grpc.engine.requests import FlushRequest, FlushTrigger
from condense_grpc.server.convert.delta import Change, DeltaReader
from condense_grpc.server.convert.enums import (
    BATCH_OUTCOME,
    BODY_SOURCE,
    CHAIN_SKIP,
    FLUSH_OUTCOME,
    NOTICE_LEVEL,
    TRIGGER,
)
from condense_grpc.server.convert.sent_messages import SentMessages
from condense_grpc.server.convert.session_id import known_session_id, new_session_id
from condense_grpc.server.convert.stats import write_check, write_stats, write_summarizer_usage
from condense_grpc.server.convert.times import write_time
from condense_grpc.server.convert.wire_text import wire_text, wire_texts
from condense_grpc.server.workers import LARGE_BYTES


@frozen
class FlushCall:
    """A request to flush, and how to tell events."""

    request: FlushRequest
    joint_events: bool


@frozen
class FlushReader:
    """Reads FlushBatches requests. Safe to use from any thread."""

    deltas: DeltaReader

    def read_cut(self, data: bytes) -> FlushCall | None:
        """The same as `read` for the bytes of a large request, if its messages can be cut out of it."""
        return self.deltas.read_cut(pb.FlushBatchesRequest, data, self.read)

    def read(self, message: pb.FlushBatchesRequest, request_bytes: int, sent: SentMessages | None = None) -> FlushCall:
        """The request; `sent`: its messages, if they were cut out of it.

        A reason that this release does not know counts as a manual flush: it is only noted.
        """
        may_create = message.HasField("delta")
        session_id = new_session_id(message.session_id) if may_create else known_session_id(message.session_id)
        change = Change()
        if may_create:
            change = self.deltas.read(message.delta, message.config, request_bytes, session_id, sent=sent)
        request = FlushRequest(
            session_id=session_id,
            delta=change.delta,
            trigger=TRIGGER.read(message.trigger) or FlushTrigger.MANUAL,
            dry_run=message.dry_run,
            compact=message.compact,
            attach=message.attach,
            create=change.create,
        )
        return FlushCall(request, message.joint_events)


Answer = TypeVar("Answer", pb.FlushBatchesResponse, pb.CompactChainsResponse)


def write_answers(events: Sequence[NumberedEvent], kind: type[Answer], *, joint: bool) -> Iterator[Answer]:
    """The responses that carry these events: one each, or `joint` so many in one as others do not notice.

    An event that is large has a response of its own: what passes the limit for messages alone does so in any company.
    """
    answer, room = None, 0
    for numbered in events:
        if answer is not None and joint:
            further = answer.further_events.add()
            write_event(numbered, further)
            room -= further.ByteSize()
            if room >= 0:
                continue
            following = kind(event=answer.further_events.pop())
        else:
            following = kind()
            write_event(numbered, following.event)
        if answer is not None:
            yield answer
        answer, room = following, LARGE_BYTES - following.event.ByteSize() if joint else 0
    if answer is not None:
        yield answer


def write_event(numbered: NumberedEvent, target: pb.FlushEvent) -> None:
    """Write one event."""
    target.sequence = numbered.sequence
    target.flush_id = numbered.flush_id
    write_time(numbered.time_ms, target.event_time)
    match numbered.event:
        case FlushStarted() as started:
            _write_started(started, target.started)
        case BatchStarted() as begun:
            target.batch_started.batch_index = begun.batch_index
            target.batch_started.summarizer = wire_text(begun.summarizer)
        case BatchProgress() as progress:
            target.batch_progress.batch_index = progress.batch_index
            target.batch_progress.received_chars = progress.received_chars
            target.batch_progress.raw_chars = progress.raw_chars
        case BatchFinished() as finished:
            _write_finished(finished, target.batch_finished)
        case ChainCompressed() as chain:
            target.chain_compressed.block_id = chain.block_id
            target.chain_compressed.refs.extend(wire_texts(chain.refs))
            target.chain_compressed.body_source = BODY_SOURCE.write(chain.body_source)
            target.chain_compressed.start_index = chain.start_index
            target.chain_compressed.final_index = chain.final_index
            target.chain_compressed.reclaimed_tokens = chain.reclaimed_tokens
        case Notice() as notice:
            target.notice.level = NOTICE_LEVEL.write(notice.level)
            target.notice.text = wire_text(notice.text)
        case FlushCompleted() as completed:
            _write_completed(completed, target.completed)


def _write_started(started: FlushStarted, target: pb.FlushStarted) -> None:
    target.trigger = TRIGGER.write(FlushTrigger(started.trigger))
    target.transcript_length = started.transcript_length
    for batch in started.batches:
        target.batches.add(
            batch_index=batch.batch_index,
            turn_index=batch.turn_index,
            tool_names=wire_texts(batch.tool_names),
            call_count=batch.call_count,
            raw_chars=batch.raw_chars,
        )


def _write_finished(finished: BatchFinished, target: pb.BatchFinished) -> None:
    target.batch_index = finished.batch_index
    target.turn_index = finished.turn_index
    target.outcome = BATCH_OUTCOME.write(finished.outcome)
    target.occurrence_keys.extend(wire_texts(finished.occurrence_keys))
    target.refs.extend(wire_texts(finished.refs))
    for duplicate in finished.duplicates:
        target.duplicates.add(occurrence_key=wire_text(duplicate.occurrence_key), ref=wire_text(duplicate.ref))
    target.summary_text = wire_text(finished.text)
    target.summary_id = finished.summary_id
    if finished.usage is not None:
        write_summarizer_usage(finished.usage, target.usage)
    target.failure_reason = wire_text(finished.failure_reason)
    target.source_chars = finished.source_chars
    target.summary_chars = finished.summary_chars
    if finished.check is not None:
        write_check(finished.check, target.check)
    if finished.wasted is not None:
        write_summarizer_usage(finished.wasted, target.wasted_usage)


def _write_completed(completed: FlushCompleted, target: pb.FlushCompleted) -> None:
    target.SetInParent()
    if completed.outcome is not None:
        target.outcome = FLUSH_OUTCOME.write(completed.outcome)
    _write_counts(completed.counts, target.counts)
    if completed.frontier is not None:
        write_frontier(completed.frontier, target.frontier)
    write_stats(completed.stats, target.stats, completed.since_load)
    target.revision = completed.revision
    target.block_ids.extend(completed.blocks)
    for skipped in completed.skipped:
        target.skipped_chains.add(reason=CHAIN_SKIP.write(skipped.reason), start_index=skipped.start_index)
    target.reclaimed_tokens = completed.reclaimed_tokens


def _write_counts(counts: FlushCounts, target: flush_pb2.FlushCounts) -> None:
    target.SetInParent()
    target.captured_batches = counts.captured_batches
    target.processed_batches = counts.processed_batches
    target.summarized_batches = counts.summarized_batches
    target.extractive_batches = counts.extractive_batches
    target.trivial_batches = counts.trivial_batches
    target.oversized_batches = counts.oversized_batches
    target.deduped_batches = counts.deduped_batches
    target.failed_batches = counts.failed_batches
    target.processed_calls = counts.processed_calls
    target.raw_chars = counts.raw_chars
    target.summary_chars = counts.summary_chars


def write_frontier(frontier: Frontier, target: flush_pb2.Frontier) -> None:
    """Write the boundary that a flush has reached; an imported outcome that is not known stays unspecified."""
    target.last_attempted_tool_call_id = wire_text(frontier.last_attempted_tool_call_id)
    target.last_attempted_tool_name = wire_text(frontier.last_attempted_tool_name)
    target.last_attempted_turn_index = frontier.last_attempted_turn_index
    target.last_attempted_timestamp_ms = frontier.last_attempted_timestamp_ms
    target.attempted_batch_count = frontier.attempted_batch_count
    target.attempted_tool_call_count = frontier.attempted_tool_call_count
    target.raw_chars = frontier.raw_char_count
    target.summary_chars = frontier.summary_char_count
    target.outcome = outcome_of(frontier.outcome)


def outcome_of(text: str) -> flush_pb2.FlushOutcome.ValueType:
    """The outcome of a stored report, or unspecified."""
    known = FlushOutcome.__members__.values()
    found = next((outcome for outcome in known if outcome.value == text), None)
    return flush_pb2.FLUSH_OUTCOME_UNSPECIFIED if found is None else FLUSH_OUTCOME.write(found)
