"""Histories with defects: nothing fails, views have no defect of their own, what is repaired is told."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.validity import find_defects
from tests.engine.harness import World
from tests.native.defects import DEFECTS, Defect, with_defects
from tests.native.histories import Json, Step, elements_of, styles, texts_of, valid_steps
from tests.native.host import Host
from tests.native.test_views_property import CONFIG, operations, play, run
from tests.native.thorough import examples

broken = st.lists(st.tuples(st.sampled_from(DEFECTS), st.integers(0, 60)), min_size=1, max_size=3)


@pytest.mark.parametrize("form", NativeFormat)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), steps=valid_steps(), style=styles, what=operations, defects=broken, renames=st.booleans())
def test_views_of_broken_histories_are_no_worse(
    form: NativeFormat,
    data: st.DataObject,
    steps: list[Step],
    style: Json,
    what: list[str],
    defects: Sequence[tuple[Defect, int]],
    renames: bool,
) -> None:
    """Whatever is wrong with a history, its views have no other defects, and edits still give the whole view."""
    texts = texts_of(with_defects(form, elements_of(form, steps), defects), style)
    cuts = data.draw(st.lists(st.integers(0, len(texts)), max_size=3))

    async def scenario() -> None:
        host = await play(form, texts, cuts, what, rename_repeated_ids=renames)
        await host.engine.close()

    run(scenario())


@pytest.mark.parametrize("form", NativeFormat)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), steps=valid_steps(), defects=broken)
def test_defects_are_told_once_however_the_history_comes(
    form: NativeFormat, data: st.DataObject, steps: list[Step], defects: Sequence[tuple[Defect, int]]
) -> None:
    """A history that is sent in pieces is found to have the same defects as one that is sent at once."""
    texts = texts_of(with_defects(form, elements_of(form, steps), defects), {})
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=3)))

    async def scenario() -> None:
        world = World()
        await world.agent("s", **CONFIG)
        host = Host(world.engine, form)
        told = []
        for end in [*cuts, len(texts)]:
            told += (await host.send(texts[len(host.texts) : end])).violations
        whole = find_defects(form, [json.loads(text) for text in texts])
        assert {it.kind for it in whole} <= {it.kind for it in told}
        again = await host.send(texts, 0)
        assert not again.violations
        await world.engine.close()

    run(scenario())
