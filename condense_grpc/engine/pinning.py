"""Pins: results that a client keeps verbatim, and the end of pins whose time is over."""

from collections.abc import Iterable, Sequence

from condense_grpc.domain.batches import Record
from condense_grpc.domain.entries import PinEntry
from condense_grpc.engine.calls import Calls, facts_of
from condense_grpc.engine.requests import PinResult
from condense_grpc.engine.revision import current_revision
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.tools import Tools


class Pinning:
    """The use case of pins. Safe to share."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def pin(self, session_id: str, refs: Sequence[str], *, ttl_ms: int | None, unpin: bool) -> PinResult:
        """Pin the results of these names, or take their pins away; a lifetime counts from now."""
        async with self._tools.registry.locked(session_id) as live:
            state, now_ms = live.state, self._tools.clock.now_ms()
            calls = Calls(state)
            named = {ref: records_named(state, calls, ref) for ref in dict.fromkeys(refs)}
            records = list({record.key: record for found in named.values() for record in found}.values())
            expires_ms = None if ttl_ms is None or unpin else now_ms + ttl_ms
            wanted = PinEntry(tuple(_keys(records, calls)), expires_ms, unpin)
            keys = state.decisions.index.pins.changed_by(wanted)
            if keys:
                state.decide([PinEntry(keys, expires_ms, unpin)], now_ms)
                await self._tools.registry.persist(live)
            return PinResult(
                facts=await facts_of(self._tools.bodies, state, records),
                unknown_refs=tuple(ref for ref, found in named.items() if not found),
                revision=await current_revision(self._tools.bodies, state),
            )


def records_named(state: SessionState, calls: Calls, name: str) -> list[Record]:
    """The records that a name stands for; of a short ref its duplicates too."""
    found = calls.find(name)
    index = state.decisions.index
    keys = {record.key for record in found}
    if any(index.short_ref(key) == name for key in keys):
        found += [one for one in calls.all() if one.key not in keys and index.short_ref(one.key) == name]
    return found


def _keys(records: Iterable[Record], calls: Calls) -> Iterable[str]:
    """The keys to pin. An old record has its id for a key, and the results with that id have keys of their own."""
    for record in records:
        yield record.key
        if record.key == record.tool_call_id:
            yield from (one.key for one in calls.all() if one.tool_call_id == record.tool_call_id)


def end_pins(state: SessionState, now_ms: int) -> None:
    """Take away the pins whose time is over. For the begin of a flush or a compaction, under the session's lock."""
    ended = state.decisions.index.pins.ended(now_ms)
    if ended:
        state.decide([PinEntry(ended, unpin=True)], now_ms)
