"""The answer to a prune: views, savings, revisions, cache reports, and looks that change nothing."""

import pytest

from condense_grpc.domain.edits import ReplaceResult, apply_edits
from condense_grpc.domain.json_text import compact
from condense_grpc.domain.pi_json import message_to_pi
from condense_grpc.engine.requests import Delta, PruneRequest, ViewKind
from condense_grpc.errors import SessionNotFound
from tests.domain.histories import answer, calls, notice, result, user
from tests.engine.harness import LONG, World, stamped

BIG = "y" * 400


async def test_edits_full_and_none_are_the_same_view(world: World) -> None:
    """Raw and edits give the full view; none gives numbers."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    edits, full, none = [await agent.prune(view=view) for view in (ViewKind.EDITS, ViewKind.FULL, ViewKind.NONE)]
    raw = [stamped(one, message.timestamp_ms) for one, message in zip(agent.history, full.messages, strict=False)]
    assert apply_edits(raw, edits.edits) == full.messages
    assert (full.edits, edits.messages, none.edits, none.messages) == ((), None, (), None)
    assert edits.reclaim == full.reclaim == none.reclaim
    assert edits.revision == full.revision == none.revision


async def test_sizes_are_those_of_the_raw_history_and_of_the_view(world: World) -> None:
    """As their compact JSON measures."""
    agent = await world.agent()
    assert (await agent.prune()).reclaim.before_chars == 2
    await agent.work("a")
    raw = await agent.view()
    unpruned = await agent.prune()
    assert unpruned.reclaim.before_chars == unpruned.reclaim.after_chars == _size(raw)
    await agent.flush()
    pruned = await agent.prune(view=ViewKind.FULL)
    assert (pruned.reclaim.before_chars, pruned.reclaim.after_chars) == (_size(raw), _size(pruned.messages))
    assert pruned.reclaim.before_tokens == round(_size(raw) / 4)


def _size(messages: list) -> int:
    return len(compact([message_to_pi(message) for message in messages]))


async def test_a_known_revision_brings_no_edits(world: World) -> None:
    """Also after more messages, as long as the edits are the same; without edits it is always the same one."""
    agent = await world.agent()
    empty = await agent.prune(user(None))
    assert (await agent.prune(known_revision=empty.revision)).unchanged
    await agent.work("a")
    await agent.flush()
    first = await agent.prune(known_revision=empty.revision)
    assert not first.unchanged and first.edits
    second = await agent.prune(user(None, "more"), known_revision=first.revision)
    assert second.unchanged and second.edits == ()
    await world.restart()
    assert (await agent.prune(known_revision=first.revision)).unchanged


async def test_small_savings_are_withheld_until_a_view_was_shown(world: World) -> None:
    """Afterwards never again: a view does not go back."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    withheld = await agent.prune(min_savings_chars=10_000)
    assert (withheld.pruned, withheld.edits, withheld.revision) == (False, [], "0")
    assert withheld.reclaim.before_chars == withheld.reclaim.after_chars
    assert (await agent.prune(view=ViewKind.NONE)).pruned
    assert not (await agent.prune(min_savings_chars=10_000)).pruned
    shown = await agent.prune(min_savings_chars=-10_000)
    assert shown.pruned and shown.edits
    assert (await agent.prune(min_savings_chars=10_000)).edits == shown.edits
    await world.restart()
    assert (await agent.prune(min_savings_chars=10_000)).edits == shown.edits


async def test_savings_are_measured_against_the_raw_history(world: World) -> None:
    """The summary counts as cost, not as something that was there."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    pruned = await agent.prune(view=ViewKind.NONE)
    saved = pruned.reclaim.before_chars - pruned.reclaim.after_chars
    assert saved < 0
    assert not (await agent.prune(min_savings_chars=saved + 1, view=ViewKind.NONE)).pruned
    assert (await agent.prune(min_savings_chars=saved, view=ViewKind.NONE)).pruned


async def test_a_view_with_nothing_but_a_summary_more_is_a_view_that_was_shown(world: World) -> None:
    """All that the summary covers is protected again: the summary stays where it was shown."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await world.engine.update_session("s", config={"protected_tools": ("bash",)}, labels=None)
    first = await agent.prune()
    assert (first.pruned, len(first.edits)) == (False, 1)
    assert (await agent.prune(min_savings_chars=10_000)).edits == first.edits


async def test_the_cache_report_names_the_first_change(world: World) -> None:
    """New messages break nothing; a flush changes from its first stub on."""
    agent = await world.agent()
    assert (await agent.prune(user(None), calls(None, "a"), result(None, "a", LONG))).cache is None
    grown = (await agent.prune(answer(None))).cache
    assert grown is not None and (grown.first_changed_index, grown.breaks_cache) == (3, False)
    same = (await agent.prune()).cache
    assert same is not None and (same.first_changed_index, same.breaks_cache) == (4, False)
    await agent.flush()
    looked = (await agent.prune(view=ViewKind.NONE)).cache
    changed = (await agent.prune()).cache
    assert looked == changed is not None
    assert (changed.first_changed_index, changed.breaks_cache) == (2, True)
    assert changed.unchanged_prefix_chars == sum(len(compact(message_to_pi(one))) for one in (await agent.view())[:2])
    await agent.rewind(1)
    gone = (await agent.prune()).cache
    assert gone is not None and (gone.first_changed_index, gone.breaks_cache) == (1, True)


async def test_switching_off_and_on_changes_the_view(world: World) -> None:
    """And says so."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    await agent.prune()
    await world.engine.update_session("s", config={"enabled": False}, labels=None)
    off = await agent.prune(view=ViewKind.FULL)
    assert not off.pruned and len(off.messages) == 4
    assert off.cache is not None and off.cache.first_changed_index == 2
    await world.engine.update_session("s", config={"enabled": True}, labels=None)
    on = await agent.prune()
    assert on.pruned and on.cache is not None and on.cache.first_changed_index == 2


async def test_counts_of_what_was_applied(world: World) -> None:
    """One number for each kind of edit."""
    agent = await world.agent(chain_compression={"rolling_window": 1}, purge_errors={"cooldown_turns": 0})
    failing = stamped(result(None, "p", LONG), None)
    await agent.append(user(None), calls(None, "p", arguments=f'{{"a": "{BIG * 2}"}}'))
    await agent.append(_failed(failing))
    await agent.append(answer(None, thinking="hm"))
    await agent.work("a")
    await agent.append(user(None), calls(None, "b"), notice(None), result(None, "b", LONG), result(None, "x", "odd"))
    await agent.flush()
    applied = (await agent.prune()).applied
    assert (applied.compressed_chains, applied.stubs, applied.summaries) == (1, 2, 2)
    assert (applied.moved_messages, applied.swept_orphans, applied.stripped_thinking) == (1, 1, 1)
    assert applied.dropped_messages == 3 + 1 - 1
    await world.engine.update_session("s", config={"chain_compression": {"enabled": False}}, labels=None)
    assert (await agent.prune()).applied.purged_arguments == 1


def _failed(message):
    from dataclasses import replace

    return replace(message, is_error=True)


async def test_a_dry_run_changes_nothing(world: World) -> None:
    """Neither the state nor the store: not even what was to be written anyway."""
    agent = await world.agent(spill_threshold=400)
    await agent.work("a")
    await agent.flush()
    await agent.prune()
    await agent.append(user(None))
    before = await _everything(world, agent)
    writes = world.store.calls.count("write")
    delta = agent.delta(calls(None, "b"), result(None, "b", BIG), result(None, "stray"))
    dry = await world.engine.prune(PruneRequest("s", delta, ViewKind.FULL, dry_run=True))
    assert (dry.length, dry.edits, dry.messages) == (8, (), None)
    assert (dry.applied.stubs, dry.applied.swept_orphans, len(dry.violations)) == (2, 1, 1)
    assert dry.cache is not None
    assert world.store.calls.count("write") == writes
    assert await _everything(world, agent) == before
    rewound = await world.engine.prune(PruneRequest("s", Delta(0, "", ()), dry_run=True))
    assert (rewound.length, rewound.pruned) == (0, False)
    assert await _everything(world, agent) == before


async def _everything(world: World, agent) -> tuple:
    session = await world.engine.get_session("s")
    report = await world.engine.diagnostics("s")
    return session, report, await agent.refs(), await world.engine.list_calls("s", 0, 100), agent_shown(world)


def agent_shown(world: World):
    live = world.engine._registry.find("s")
    return live.state.shown, live.state.view_shown


async def test_a_dry_run_can_look_at_a_session_that_is_not_there(world: World) -> None:
    """As the delta would make it; without that wish there is none."""
    await world.engine.start()
    delta = Delta(0, "", [user(None), answer(None)], create_if_missing=True)
    dry = await world.engine.prune(PruneRequest("new", delta, dry_run=True))
    assert (dry.length, dry.created) == (2, False)
    for asked in (None, Delta(0, "", [user(None)])):
        with pytest.raises(SessionNotFound):
            await world.engine.prune(PruneRequest("new", asked, dry_run=True))


async def test_what_a_render_notices_is_kept_once(world: World) -> None:
    """Counted and recorded; after a rewind it counts anew."""
    agent = await world.agent()
    await agent.append(user(None), result(None, "x\0\ud800"))
    for _ in range(3):
        await agent.prune()
    assert (await world.engine.diagnostics("s")).counts["orphan-sweep"] == 1
    (entry,) = await world.engine.diagnostic_entries("s", 0, 10)
    assert "\0" not in entry.detail and entry.detail.startswith("swept 1 orphan")
    assert await world.engine.diagnostic_entries("s", 1, 10) == []
    assert "diag o1" in (await agent.prune()).status_line
    await agent.rewind(1)
    assert (await world.engine.diagnostics("s")).counts["orphan-sweep"] == 0


async def test_stubs_name_their_refs(world: World) -> None:
    """As an edit says."""
    agent = await world.agent()
    await agent.work("a")
    await agent.flush()
    (stub,) = [edit for edit in (await agent.prune()).edits if isinstance(edit, ReplaceResult)]
    assert (stub.message_index, stub.ref) == (2, "t1")
