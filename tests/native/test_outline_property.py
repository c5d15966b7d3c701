"""The outline that a session keeps says what the plan of its whole view says, however the session grows."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.engine import native_shown
from condense_grpc.engine.native_shown import find_shown
from condense_grpc.engine.native_view import plan_of_view
from condense_grpc.engine.requests import CacheReport, ViewKind
from condense_grpc.engine.revision import current_view
from condense_grpc.native.formats import NativeFormat
from tests.engine.harness import World
from tests.native.histories import Json, Step, elements_of, styles, texts_of, valid_steps
from tests.native.host import Host
from tests.native.loose_histories import loose_elements
from tests.native.test_views_property import CONFIG, do, run
from tests.native.thorough import examples

OPERATIONS = st.lists(
    st.sampled_from(["", "", "", "flush", "compact", "resend", "restart", "rewind", "whole"]), max_size=30
)


async def compare(world: World) -> None:
    """What is told of the view is what its plan says."""
    async with world.engine._registry.locked("s") as live:
        state = live.state
        view = await current_view(world.engine._tools.bodies, state)
        shown = find_shown(state, lambda: view.edits, view.revision, is_plain=False)
        assert shown is not None
        whole = plan_of_view(state, state_form(state), view.edits, is_plain=False)
        assert (shown.revision, shown.differs) == (whole.revision, whole.differs)
        for rank in range(len(state.transcript) + 8):
            told = shown.in_elements(CacheReport(rank, 0, breaks_cache=False))
            assert told.first_changed_index == whole.first_slot_from(rank)


def state_form(state) -> NativeFormat:
    return NativeFormat.of_number(state.transcript.skeletons[0].native.format)


@pytest.mark.parametrize("form", NativeFormat)
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=valid_steps(), style=styles, what=OPERATIONS, size=st.integers(1, 4))
def test_an_outline_says_what_the_plan_says(
    form: NativeFormat, steps: list[Step], style: Json, what: list[str], size: int
) -> None:
    """Element by element, with everything between that can happen to a session."""
    compare_all(form, texts_of(elements_of(form, steps), style), what, size)


def compare_all(form: NativeFormat, texts: list[str], what: list[str], size: int) -> None:
    """A session that is sent so many elements at once, with something done after each piece."""

    async def scenario() -> None:
        world = World()
        await world.agent("s", **CONFIG)
        host = Host(world.engine, form)
        for number, start in enumerate(range(0, len(texts), size)):
            await host.send(texts[start : start + size])
            await compare(world)
            await do(world, host, what[number] if number < len(what) else "")
            await compare(world)
        await host.view() if texts else None
        await world.engine.close()

    run(scenario())


@pytest.mark.parametrize("form", NativeFormat)
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), what=OPERATIONS, size=st.integers(1, 4))
def test_it_does_so_whatever_is_wrong_with_the_history(
    form: NativeFormat, data: st.DataObject, what: list[str], size: int
) -> None:
    """Also where results are left out and others speak for them."""
    compare_all(form, texts_of(data.draw(loose_elements(form)), {}), what, size)


async def test_a_session_that_grows_is_told_by_its_outline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole plan is made once for each decision, not for each turn."""
    made = []
    monkeypatch.setattr(native_shown, "plan_of_view", lambda *args, **how: made.append(1) or plan_of_view(*args, **how))
    world = World()
    await world.agent("s", **CONFIG)
    host = Host(world.engine, NativeFormat.OPENAI_CHAT)
    await host.send(['{"role":"user","content":"go"}'], view=ViewKind.NONE)
    plans = []
    for number in range(8):
        call = f'{{"id":"c{number}","type":"function","function":{{"name":"read","arguments":"{{}}"}}}}'
        made.clear()
        await host.send(
            [
                f'{{"role":"assistant","content":null,"tool_calls":[{call}]}}',
                f'{{"role":"tool","tool_call_id":"c{number}","content":"{number} {"word " * 60}"}}',
            ],
            view=ViewKind.NONE,
        )
        plans.append(len(made))
        if number == 3:
            await do(world, host, "flush")
    assert plans == [1, 0, 0, 0, 1, 0, 0, 0]
    await world.engine.close()
