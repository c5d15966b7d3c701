"""Compression of finished chains on a live session: ask the fuser first, then decide and write in one go."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from condense_grpc.domain.chain_body import chain_body
from condense_grpc.domain.chain_survey import bodies_wanted, fusible_chains
from condense_grpc.domain.compression import CompressionOutcome, SkippedChainReason, compress
from condense_grpc.domain.compression import SkippedChain as SkippedPlace
from condense_grpc.domain.config import ChainCompressionConfig
from condense_grpc.domain.entries import ChainEntry, Entry, StatsEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.numbers import token_estimate
from condense_grpc.domain.stats import add_usage, add_wasted
from condense_grpc.engine.chain_source import ChainSource
from condense_grpc.engine.events import ChainCompressed, Notice, SkippedChain
from condense_grpc.engine.flush_run import FlushRun
from condense_grpc.engine.offloading import offloaded
from condense_grpc.engine.ports import CANNOT_FUSE, FuseRequest, SummaryNotice, SummaryReply
from condense_grpc.engine.revision import read_view
from condense_grpc.engine.shielding import completed
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.summarizing import OnTheWay, answer_of, ask, summary_usage
from condense_grpc.engine.tools import Tools


@frozen
class CompressionOrder:
    """One compression. `rolling_window`: the newest chains that stay.

    `waits_for_pending`: chains with calls that a flush would take stay too; otherwise these calls are archived.
    """

    session_id: str
    rolling_window: int
    waits_for_pending: bool


@frozen
class CompressionReport:
    """What it came to. `reclaimed_tokens` estimates the texts that the blocks stand for.

    `skipped_chains` counts those of `skipped` for which nothing could stand.
    """

    blocks: tuple[str, ...] = ()
    skipped_chains: int = 0
    reclaimed_tokens: int = 0
    skipped: tuple[SkippedChain, ...] = ()


@frozen
class DecidedChains:
    """What a compression has decided, to be told once it is durable."""

    report: CompressionReport
    events: Sequence[ChainCompressed]

    def tell(self, run: FlushRun) -> None:
        """One event for each block."""
        for event in self.events:
            run.emit(event)


Fused = Mapping[str, tuple[str, SummaryReply]]
"""What a fuser was asked and has answered, by start key."""


async def compress_chains(
    tools: Tools,
    order: CompressionOrder,
    run: FlushRun,
    closing: Callable[[CompressionReport], Entry] | None = None,
    written: Callable[[CompressionReport], object] | None = None,
) -> CompressionReport:
    """Compress every eligible chain of a session and tell `run` about each. The lock is taken only to decide.

    `closing` gives a last entry, which is written together with the blocks. `written` is told once they are durable.
    Who cancels while they are written does so too late: they are told all the same.
    """
    fused = await _fuse(tools, order, run)
    async with tools.registry.locked(order.session_id) as live:
        decided = await decide_chains(tools, live.state, order, fused, closing)

        async def write() -> None:
            await tools.registry.persist(live)
            decided.tell(run)
            if written is not None:
                written(decided.report)

        await completed(write())
        return decided.report


async def decide_chains(
    tools: Tools,
    state: SessionState,
    order: CompressionOrder,
    fused: Fused,
    closing: Callable[[CompressionReport], Entry] | None = None,
) -> DecidedChains:
    """The same without writing and telling. The lock must be held."""
    await read_view(state)
    now_ms = tools.clock.now_ms()
    source = ChainSource(state, order.rolling_window, now_ms, waits_for_pending=order.waits_for_pending)
    survey, front = source.survey, source.front
    await source.fetch(tools.bodies, bodies_wanted(survey))
    # A rewind may have changed what a fused text was made of.
    current = {chain.start_key: chain.text for chain in fusible_chains(survey)} if fused else {}
    used = {key: reply for key, (text, reply) in fused.items() if current.get(key) == text}

    def decide() -> CompressionOutcome:
        outcome = compress(survey, {key: reply.text for key, reply in used.items()})
        # In the same step: the index has taken in what is decided here.
        state.decide(outcome.entries, now_ms, applied=True)
        return outcome

    outcome = await offloaded(sum([len(chain.lookup_keys) for chain in survey.eligible]), decide)
    for diagnostic in outcome.diagnostics:
        state.note(diagnostic.kind, diagnostic.key, diagnostic.detail, now_ms)
    _count(state, used if outcome.blocks else {}, fused, len(outcome.blocks), now_ms)
    report = _report(state, outcome, front.all_skipped(outcome.skipped))
    front.advance(survey, state.transcript.skeletons)
    if closing is not None:
        state.decide([closing(report)], now_ms)
    digests = {digest for block in outcome.blocks for digest in (block.start_digest, block.final_digest)}
    positions = state.transcript.find_digests(digests)
    return DecidedChains(report, [_event(state, block, positions) for block in outcome.blocks])


def may_fuse(tools: Tools, config: ChainCompressionConfig) -> bool:
    """Whether the summaries of a chain are to be written as one text."""
    return tools.summarizer.can_fuse and config.fuse_range_summary


async def _fuse(tools: Tools, order: CompressionOrder, run: FlushRun) -> Fused:
    """What was asked and answered by start key; a failure or a blank answer leaves the summaries as they are."""
    if not tools.summarizer.can_fuse:
        return {}
    async with tools.registry.locked(order.session_id) as live:
        config = live.state.config
        if not may_fuse(tools, config.chain_compression):
            return {}
        await read_view(live.state)
        source = ChainSource(live.state, order.rolling_window, 0, waits_for_pending=order.waits_for_pending)
        chains = fusible_chains(source.survey)
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
    fused: Fused,
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


def _event(state: SessionState, block: ChainEntry, positions: Mapping[str, int]) -> ChainCompressed:
    body_source = "fused" if block.is_fused else block.body_source or "summaries"
    transcript, index = state.transcript, state.decisions.index
    start, final = map(positions.get, (block.start_digest, block.final_digest))
    return ChainCompressed(
        block.block_id,
        block.tool_refs,
        body_source,
        chain_body(block, index),
        -1 if start is None else transcript.elements_before(start),
        -1 if final is None else transcript.elements_before(final),
        token_estimate(_dropped_chars(index, block)),
    )


def _dropped_chars(index: SessionIndex, block: ChainEntry) -> int:
    records = map(index.record_of_key, block.dropped_occurrence_keys)
    return sum(record.text_chars for record in records if record is not None)


def _report(state: SessionState, outcome: CompressionOutcome, all_skipped: Sequence[SkippedPlace]) -> CompressionReport:
    chars = sum(_dropped_chars(state.decisions.index, block) for block in outcome.blocks)
    places = state.transcript.elements_before
    return CompressionReport(
        tuple(block.block_id for block in outcome.blocks),
        sum(skipped.reason is SkippedChainReason.NO_SUMMARY for skipped in outcome.skipped),
        math.ceil(chars / 4),
        tuple(SkippedChain(skipped.reason.value, places(skipped.start)) for skipped in all_skipped),
    )
