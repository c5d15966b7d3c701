"""Everything that can be told of a session under test, to be compared before and after something."""

from dataclasses import replace
from typing import Any

from condense_grpc.engine.revision import current_view
from condense_grpc.engine.state import SessionState
from tests.engine.harness import World


def state_of(world: World, name: str) -> SessionState:
    live = world.engine._registry.find(name)
    assert live is not None
    return live.state


async def fingerprint(world: World, name: str) -> dict[str, Any]:
    """Everything about a session that follows from its messages and decisions. Changes nothing."""
    async with world.engine._registry.locked(name) as live:
        state = live.state
        current = await current_view(world.engine._tools.bodies, state)
    facts = {one.record.key: one for one in await world.engine.list_calls(name, 0, 10_000)}
    names = list(dict.fromkeys([*facts, *(one.ref for one in facts.values() if one.ref)]))
    info = await world.engine.get_session(name)
    index = state.decisions.index
    return {
        "etag": info.etag,
        "config": info.config,
        "pending": info.pending_batches,
        "revision": info.revision,
        "edits": current.edits,
        "applied": (current.applied, current.chars),
        "facts": facts,
        "answer": (await world.engine.query(name, names, [])).blocks,
        "stats": state.decisions.stats,
        "frontier": state.decisions.frontier,
        "flushes": [*state.decisions.recent_flushes],
        "commits": [replace(commit, entries=()) for commit in state.decisions.commits],
        "numbers": (index.next_ref_number, index.next_block_number),
        "chains": index.chains,
        "skipped": [key for key in facts if index.is_skipped(key)],
        "keys": [*state.transcript.keys],
    }


def differences(one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (one[name], other[name]) for name in one if one[name] != other[name]}
