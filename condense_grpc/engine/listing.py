"""Lists for people and tools: the tool calls of a session under their summaries, and the summaries themselves."""

from collections.abc import Collection, Mapping, Sequence

from condense_grpc.domain.archive import record_time
from condense_grpc.domain.batches import Record
from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.engine.calls import Calls, facts_of, state_of
from condense_grpc.engine.requests import CallPage, CallState, SummaryFacts
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.summaries import all_summaries, blocks_of, summary_id
from condense_grpc.engine.tools import Tools


@frozen
class CallFilter:
    """Which calls to list: those in one of these states (empty: all), and of this summary or block (empty: any)."""

    states: Collection[CallState] = ()
    summary_id: str = ""


class Listing:
    """The use cases that list. Safe to share."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def calls(self, session_id: str, where: CallFilter, after: int, limit: int) -> CallPage:
        """A page of calls from number `after` on. Bodies are read for what the page shows only."""
        async with self._tools.registry.locked(session_id) as live:
            state = live.state
            blocks = blocks_of(state)
            found = [record for record in grouped_records(state) if _fits(state, record, where, blocks)]
            facts = await facts_of(self._tools.bodies, state, found[after : after + limit])
            wanted = {one.summary_id for one in facts}
            summaries = {one.summary_id: one for one in all_summaries(state) if one.summary_id in wanted}
            return CallPage(facts, summaries, after + limit if after + limit < len(found) else None)

    async def summaries(self, session_id: str, after: int, limit: int) -> Sequence[SummaryFacts]:
        """The summaries and blocks, oldest first, from number `after` on."""
        async with self._tools.registry.locked(session_id) as live:
            return all_summaries(live.state)[after : after + limit]


def archive_records(state: SessionState) -> list[Record]:
    """A record of every result: those that only the archive holds, by time, then those of the transcript."""
    index = state.decisions.index
    present = set(state.transcript.keys)
    absent = (index.record_of_key(key) for key in index.known_keys() if key not in present)
    return [*sorted((record for record in absent if record is not None), key=record_time), *Calls(state).all()]


def grouped_records(state: SessionState) -> list[Record]:
    """The records in the order of the transcript, all of one summary where the first of them stands."""
    groups: dict[str, list[Record]] = {}
    for number, record in enumerate(archive_records(state)):
        name = summary_of(state, record)
        groups.setdefault(name or f"#{number}", []).append(record)
    return [record for group in groups.values() for record in group]


def summary_of(state: SessionState, record: Record) -> str:
    """The id of the summary that covers a record; that of a duplicate covers its original. Empty: none."""
    index = state.decisions.index
    numbers = index.summaries_sharing([index.original_of(record.key) or record.key])
    return summary_id(numbers[0]) if numbers else ""


def _fits(state: SessionState, record: Record, where: CallFilter, blocks: Mapping[str, ChainEntry]) -> bool:
    name, block = summary_of(state, record), blocks.get(record.key)
    if where.summary_id and where.summary_id not in (name, block.block_id if block else ""):
        return False
    return not where.states or state_of(state, record, block, covered=bool(name)) in where.states
