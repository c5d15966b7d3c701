"""The report about the prompt cache when a view goes on to be written in another manner."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.engine.requests import CacheReport, Delta, NativeElements, PruneRequest, ViewKind
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_read import read_elements
from condense_grpc.native.json_scan import items_at
from tests.engine.harness import World
from tests.native.defects import repeated_element, same_ids, user_between, with_defects
from tests.native.histories import Json, Step, elements_of, valid_steps
from tests.native.test_views_property import CONFIG, flush_request, run


class Watcher:
    """A client that keeps the last view and looks whether the report about the next one is true."""

    def __init__(self, world: World, form: NativeFormat) -> None:
        self.world, self.form = world, form
        self.before: list[str] | None = None

    async def look(self, elements: list[Json], **more: Any) -> CacheReport | None:
        native = NativeElements(self.form, read_elements(json.dumps(elements).encode()))
        request = PruneRequest("s", Delta(0, "", (), native=native), ViewKind.FULL, **more)
        result = await self.world.engine.prune(request)
        assert result.native is not None
        view = [result.native.json[start:end] for start, end in items_at(result.native.json)]
        before, self.before = self.before, view
        if before is None:
            return None
        pairs = zip(before, view, strict=False)
        same = next((at for at, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(before), len(view)))
        assert result.cache is not None
        assert result.cache.first_changed_index <= same, (before, view)
        # The last element may have become longer: what the provider has cached goes on behind it.
        assert result.cache.breaks_cache or same >= len(before) - 1
        return result.cache

    async def configure(self, **config: Any) -> None:
        await self.world.engine.update_session("s", config=config, labels=None)


def work(form: NativeFormat, count: int) -> list[Json]:
    """Calls that all have one id."""
    if form is NativeFormat.OPENAI_RESPONSES:
        call = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
        return [{"role": "user", "content": "go"}] + [
            item
            for _ in range(count)
            for item in (call, {"type": "function_call_output", "call_id": "c", "output": "x"})
        ]
    asked = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "read", "input": {}}]}
    told = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]}
    return [{"role": "user", "content": "go"}, *([asked, told] * count)]


@pytest.mark.parametrize("form", [NativeFormat.ANTHROPIC, NativeFormat.OPENAI_RESPONSES])
async def test_new_ids_are_a_change_where_they_begin(form: NativeFormat) -> None:
    """Setting them, a restart between, and switching the session off: each time the second call reads otherwise."""
    world = World()
    await world.agent("s", **CONFIG)
    watcher, elements = Watcher(world, form), work(form, 3)
    await watcher.look(elements)
    for config in (
        {"rename_repeated_ids": True},
        {"enabled": False},
        {"enabled": True},
        {"rename_repeated_ids": False},
    ):
        await watcher.configure(**config)
        await world.restart()
        cache = await watcher.look(elements)
        assert cache is not None
        assert (cache.first_changed_index, cache.breaks_cache) == (3, True), config
        again = await watcher.look(elements)
        assert again is not None
        assert (again.first_changed_index, again.breaks_cache) == (len(elements), False)
    await world.engine.close()


async def test_turns_that_are_joined_are_a_change() -> None:
    """Two turns of the user are one in a view, and two in the history as it is."""
    world = World()
    await world.agent("s", **CONFIG)
    watcher = Watcher(world, NativeFormat.ANTHROPIC)
    said: list[Json] = [{"role": "user", "content": one} for one in ("a", "b")]
    elements = [said[0], {"role": "assistant", "content": "hm"}, *said, {"role": "assistant", "content": "so"}]
    await watcher.look(elements, min_savings_chars=10**6)
    for enabled in (True, False, True):
        await watcher.configure(enabled=enabled)
        cache = await watcher.look(elements)
        assert cache is not None
        assert (cache.first_changed_index, cache.breaks_cache) == (2, True)
    await world.engine.close()


async def test_a_part_that_is_gone_is_a_change_of_its_turn() -> None:
    """Results and what the user said behind them were one element; going back leaves the results."""
    world = World()
    await world.agent("s", **CONFIG)
    watcher, elements = Watcher(world, NativeFormat.ANTHROPIC), work(NativeFormat.ANTHROPIC, 1)
    await watcher.look([*elements, {"role": "user", "content": "stop"}])
    cache = await watcher.look(elements)
    assert cache is not None
    assert (cache.first_changed_index, cache.breaks_cache) == (2, True)
    await world.engine.close()


SETTINGS = [{"enabled": False}, {"enabled": True}, {"rename_repeated_ids": True}, {"rename_repeated_ids": False}]


@pytest.mark.parametrize("form", NativeFormat)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    steps=valid_steps(),
    place=st.integers(0, 40),
    defects=st.lists(st.sampled_from([same_ids, user_between, repeated_element]), max_size=2),
    what=st.lists(st.sampled_from(["flush", "compact", "restart", "grow", *SETTINGS]), max_size=8),
)
def test_reports_are_true_whatever_is_set(
    form: NativeFormat, steps: list[Step], place: int, defects: list[Any], what: list[Any]
) -> None:
    """No element before the one that is told has changed, and a change of what was shown breaks the cache."""
    elements = with_defects(form, elements_of(form, steps), [(defect, place) for defect in defects])

    async def scenario() -> None:
        world = World()
        await world.agent("s", **CONFIG)
        watcher, length = Watcher(world, form), max(len(elements) // 2, 1)
        await watcher.look(elements[:length], min_savings_chars=place * 20)
        for name in what:
            match name:
                case "flush":
                    [event async for event in world.engine.flush(flush_request())]
                case "compact":
                    [event async for event in world.engine.compact("s")]
                case "restart":
                    await world.restart()
                case "grow":
                    length += 1
                case _:
                    await watcher.configure(**name)
            await watcher.look(elements[:length], min_savings_chars=place * 20)
        await world.engine.close()

    run(scenario())
