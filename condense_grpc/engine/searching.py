"""Search over the archive of a session.

Every text is read: on real sessions that takes a tenth of a second for eight million characters, while an index would
make every append several times as expensive. It is read a few megabytes at a time, on a thread, and holds no lock.
"""

import asyncio
import heapq
from collections.abc import Iterator, Mapping, Sequence

from condense_grpc.domain.batches import Record
from condense_grpc.domain.text_search import Query, TextMatch, WordsQuery, match_text
from condense_grpc.engine.calls import facts_of
from condense_grpc.engine.codec import decode_message
from condense_grpc.engine.listing import archive_records
from condense_grpc.engine.patterns import LinePattern
from condense_grpc.engine.recall import body_of
from condense_grpc.engine.requests import SearchHit, SearchRequest
from condense_grpc.engine.tools import Tools

_BATCH_CHARS = 4 * 1024 * 1024
_BATCH_RECORDS = 500

# Where a record stands among all, and what was found in it.
_Found = tuple[int, Record, TextMatch]


class Searching:
    """The use case of search. Safe to share."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def search(self, session_id: str, request: SearchRequest) -> list[SearchHit]:
        """The records that match, best matches first, of equal ones the latest. Raises PatternInvalid."""
        query: Query = LinePattern(request.query, "query") if request.regex else WordsQuery(request.query)
        async with self._tools.registry.locked(session_id) as live:
            # The archive is what is durable.
            await self._tools.registry.persist(live)
            records = list(enumerate(archive_records(live.state)))
        wanted = [one for one in records if not request.tool_names or one[1].tool_name in request.tool_names]
        best: list[_Found] = []
        for batch in _batches(wanted):
            nodes = {node for _, record in batch for node in _nodes_of(record)}
            bodies = await self._tools.store.read_bodies(session_id, sorted(nodes))
            found = await asyncio.to_thread(_search, query, batch, bodies, request.max_lines)
            best = heapq.nlargest(request.max_results, [*best, *found], key=lambda one: (one[2].score, one[0]))
        async with self._tools.registry.locked(session_id) as live:
            facts = await facts_of(self._tools.bodies, live.state, [record for _, record, _ in best])
        return [SearchHit(one, match.lines, match.line_count) for one, (_, _, match) in zip(facts, best, strict=True)]


def _batches(records: Sequence[tuple[int, Record]]) -> Iterator[list[tuple[int, Record]]]:
    """The records in order, as many at a time as may be in memory together."""
    batch: list[tuple[int, Record]] = []
    chars = 0
    for number, record in records:
        if batch and (chars + record.text_chars > _BATCH_CHARS or len(batch) == _BATCH_RECORDS):
            yield batch
            batch, chars = [], 0
        batch.append((number, record))
        chars += record.text_chars
    if batch:
        yield batch


def _nodes_of(record: Record) -> set[int]:
    source = record.source
    return set() if source is None else {source.call_node, source.result_node} - {0}


def _search(
    query: Query, batch: Sequence[tuple[int, Record]], bodies: Mapping[int, bytes], max_lines: int
) -> list[_Found]:
    """What matches in a batch. Records whose session went away meanwhile have no bodies and match nothing."""
    messages = {node: decode_message(body, 0) for node, body in bodies.items()}
    found: list[_Found] = []
    for number, record in batch:
        if _nodes_of(record) <= messages.keys():
            body = body_of(record, messages)
            match = match_text(query, body.text, body.args_json, max_lines)
            if match is not None:
                found.append((number, record, match))
    return found
