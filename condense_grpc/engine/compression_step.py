"""Compression of finished chains on a live session: ask the fuser first, then decide and write in one go."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from condense_grpc.domain.chain_body import chain_body
from condense_grpc.domain.chain_survey import BodiesWanted, CompressionInput, bodies_wanted, fusible_chains
from condense_grpc.domain.compression import CompressionOutcome, SkippedChainReason, compress
from condense_grpc.domain.entries import ChainEntry, StatsEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.messages import Message
from condense_grpc.domain.numbers import token_estimate
from condense_grpc.domain.stats import add_usage, add_wasted
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.capture_step import arguments_from, find_pending, source_of
from condense_grpc.engine.codec import decode_message
from condense_grpc.engine.events import ChainCompressed, Notice, SkippedChain
from condense_grpc.engine.flush_run import FlushRun
from condense_grpc.engine.ports import CANNOT_FUSE, FuseRequest, SummaryNotice, SummaryReply
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.summarizing import OnTheWay, answer_of, ask, summary_usage
from condense_grpc.engine.tools import Tools


@dataclass(frozen=True, slots=True)
class CompressionOrder:
    """One compression. `rolling_window`: the newest chains that stay.

    `waits_for_pending`: chains with calls that a flush would take stay too; otherwise these calls are archived.
    """

    session_id: str
    rolling_window: int
    waits_for_pending: bool


@dataclass(frozen=True, slots=True)
class CompressionReport:
    """What it came to. `reclaimed_tokens` estimates the texts that the blocks stand for.

    `skipped_chains` counts those of `skipped` for which nothing could stand.
    """

    blocks: tuple[str, ...] = ()
    skipped_chains: int = 0
    reclaimed_tokens: int = 0
    skipped: tuple[SkippedChain, ...] = ()


async def compress_chains(tools: Tools, order: CompressionOrder, run: FlushRun) -> CompressionReport:
    """Compress every eligible chain of a session and tell `run` about each. The lock is taken only to decide."""
    fused = await _fuse(tools, order, run)
    async with tools.registry.locked(order.session_id) as live:
        state = live.state
        now_ms = tools.clock.now_ms()
        source = _input(state, order, now_ms)
        source = await _with_bodies(tools.bodies, state, source, bodies_wanted(source))
        # A rewind may have changed what a fused text was made of.
        current = {chain.start_key: chain.text for chain in fusible_chains(source)} if fused else {}
        used = {key: reply for key, (text, reply) in fused.items() if current.get(key) == text}
        outcome = compress(source, {key: reply.text for key, reply in used.items()})
        state.decide(outcome.entries, now_ms, applied=True)
        for diagnostic in outcome.diagnostics:
            state.note(diagnostic.kind, diagnostic.key, diagnostic.detail, now_ms)
        _count(state, used if outcome.blocks else {}, fused, len(outcome.blocks), now_ms)
        await tools.registry.persist(live)
        for block in outcome.blocks:
            run.emit(_event(state, block))
        return _report(state, outcome)


def _input(state: SessionState, order: CompressionOrder, now_ms: int) -> CompressionInput:
    transcript = state.transcript
    waiting = find_pending(state) if order.waits_for_pending else []
    bodies: dict[int, Message] = {}
    return CompressionInput(
        messages=transcript.skeletons,
        index=state.decisions.index,
        config=state.config,
        now_ms=now_ms,
        rolling_window=order.rolling_window,
        message_at=bodies.__getitem__,
        args_of=arguments_from(bodies),
        source_of=source_of(state),
        pending={call.key for batch in waiting for call in batch.calls},
        digests={digest.hex(): position for position, digest in enumerate(transcript.digests)},
        digest_at=lambda position: transcript.digests[position].hex(),
    )


async def _with_bodies(
    bodies: BodyCache, state: SessionState, source: CompressionInput, wanted: BodiesWanted
) -> CompressionInput:
    messages = await bodies.messages(state, wanted.positions)
    nodes = {record.source.call_node for record in wanted.records if record.source}
    by_node = {node: decode_message(body, 0) for node, body in (await bodies.encoded(state, nodes)).items()}
    return replace(source, message_at=messages.__getitem__, args_of=arguments_from(by_node))


async def _fuse(tools: Tools, order: CompressionOrder, run: FlushRun) -> dict[str, tuple[str, SummaryReply]]:
    """What was asked and answered by start key; a failure or a blank answer leaves the summaries as they are."""
    if not tools.summarizer.can_fuse:
        return {}
    async with tools.registry.locked(order.session_id) as live:
        config = live.state.config
        if not config.chain_compression.fuse_range_summary:
            return {}
        chains = fusible_chains(_input(live.state, order, 0))
    answers: dict[str, tuple[str, SummaryReply]] = {}
    for chain in chains:
        request = FuseRequest(order.session_id, chain.text, config)
        answer = await answer_of(ask(partial(tools.summarizer.fuse, request)), partial(_tell, run))
        if isinstance(answer, SummaryReply):
            answers[chain.start_key] = chain.text, answer
        elif answer.reason != CANNOT_FUSE:
            run.emit(Notice("warning", f"the summaries of a chain stay as they are: {answer.reason}"))
    return answers


def _tell(run: FlushRun, event: OnTheWay) -> None:
    if isinstance(event, SummaryNotice):
        run.emit(Notice(event.level, event.text))


def _count(
    state: SessionState,
    used: Mapping[str, SummaryReply],
    fused: Mapping[str, tuple[str, SummaryReply]],
    blocks: int,
    now_ms: int,
) -> None:
    before = stats = state.decisions.stats
    for key, (_, reply) in fused.items():
        stats = (add_usage if key in used else add_wasted)(stats, summary_usage(reply.usage))
        if reply.wasted is not None:
            stats = add_wasted(stats, summary_usage(reply.wasted))
    stats = replace(
        stats,
        chains_compressed=stats.chains_compressed + blocks,
        ranges_summarized=stats.ranges_summarized + len(used),
    )
    if stats != before:
        state.decide([StatsEntry(stats)], now_ms)


def _event(state: SessionState, block: ChainEntry) -> ChainCompressed:
    body_source = "fused" if block.is_fused else block.body_source or "summaries"
    transcript, index = state.transcript, state.decisions.index
    place = {digest.hex(): transcript.elements_before(at) for at, digest in enumerate(transcript.digests)}
    return ChainCompressed(
        block.block_id,
        block.tool_refs,
        body_source,
        chain_body(block, index),
        place.get(block.start_digest, -1),
        place.get(block.final_digest, -1),
        token_estimate(_dropped_chars(index, block)),
    )


def _dropped_chars(index: SessionIndex, block: ChainEntry) -> int:
    records = map(index.record_of_key, block.dropped_occurrence_keys)
    return sum(record.text_chars for record in records if record is not None)


def _report(state: SessionState, outcome: CompressionOutcome) -> CompressionReport:
    chars = sum(_dropped_chars(state.decisions.index, block) for block in outcome.blocks)
    places = state.transcript.elements_before
    return CompressionReport(
        tuple(block.block_id for block in outcome.blocks),
        sum(skipped.reason is SkippedChainReason.NO_SUMMARY for skipped in outcome.skipped),
        math.ceil(chars / 4),
        tuple(SkippedChain(skipped.reason.value, places(skipped.start)) for skipped in outcome.skipped),
    )
