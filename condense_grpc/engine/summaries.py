"""The summaries and blocks of a session, as a reader sees them: what each stands for, and what has taken its place."""

from collections.abc import Iterable, Mapping

from condense_grpc.domain.chain_body import block_body
from condense_grpc.domain.entries import ChainEntry, SummaryEntry
from condense_grpc.engine.decisions import Commit
from condense_grpc.engine.requests import SummaryFacts, SummaryKind
from condense_grpc.engine.state import SessionState


def summary_id(number: int) -> str:
    """The id of the summary that was remembered as `number` (from 0)."""
    return f"s{number + 1}"


def blocks_of(state: SessionState) -> dict[str, ChainEntry]:
    """The compressed chain of each result that is part of one, by key."""
    return {key: chain for chain in state.decisions.index.chains for key in chain.dropped_occurrence_keys}


def all_summaries(state: SessionState) -> list[SummaryFacts]:
    """Every summary and every block, oldest first."""
    index = state.decisions.index
    shows_blocks = state.config.chain_compression.enabled
    blocks = blocks_of(state) if shows_blocks else {}
    registered = {id(chain) for chain in index.chains}
    found: list[SummaryFacts] = []
    number = 0
    for commit in state.decisions.commits:
        for entry in commit.entries:
            if isinstance(entry, SummaryEntry) and entry.text:
                found.append(_summary(state, entry, commit, summary_id(number), blocks))
                number += 1
            elif isinstance(entry, ChainEntry) and id(entry) in registered:
                found.append(_block(state, entry, commit))
    return found


def _summary(
    state: SessionState, entry: SummaryEntry, commit: Commit, name: str, blocks: Mapping[str, ChainEntry]
) -> SummaryFacts:
    details = entry.details
    keys = [ref.key for ref in details.refs]
    block = next((blocks[key] for key in keys if key in blocks), None)
    return SummaryFacts(
        summary_id=name,
        kind=SummaryKind.EXTRACTIVE if entry.is_extractive else SummaryKind.BATCH,
        text=entry.text,
        refs=tuple(ref.short_id for ref in details.refs),
        tool_names=details.tool_names,
        turn_index=-1 if details.turn_index is None else details.turn_index,
        create_time_ms=commit.time_ms if entry.timestamp_ms is None else entry.timestamp_ms,
        transcript_length=state.transcript.elements_before(commit.anchor_length),
        source_chars=_chars_of(state, keys),
        block_id=block.block_id if block else "",
    )


def _block(state: SessionState, chain: ChainEntry, commit: Commit) -> SummaryFacts:
    index = state.decisions.index
    records = map(index.record, chain.tool_refs)
    return SummaryFacts(
        summary_id=chain.block_id,
        kind=SummaryKind.CHAIN,
        text=block_body(chain, index),
        refs=chain.tool_refs,
        tool_names=tuple(record.tool_name if record else "" for record in records),
        turn_index=-1,
        create_time_ms=chain.compressed_at_ms,
        transcript_length=state.transcript.elements_before(commit.anchor_length),
        source_chars=_chars_of(state, chain.dropped_occurrence_keys),
    )


def _chars_of(state: SessionState, keys: Iterable[str]) -> int:
    records = map(state.decisions.index.record_of_key, dict.fromkeys(keys))
    return sum(record.text_chars for record in records if record is not None)
