"""Histories in no order: whatever stands where, views bring in nothing that a provider refuses."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.native.formats import NativeFormat
from tests.native.histories import Json, styles, texts_of
from tests.native.loose_histories import loose_elements
from tests.native.test_views_property import operations, play, run
from tests.native.thorough import examples


@pytest.mark.parametrize("form", NativeFormat)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), style=styles, what=operations, renames=st.booleans())
def test_views_of_loose_histories_are_no_worse(
    form: NativeFormat, data: st.DataObject, style: Json, what: list[str], renames: bool
) -> None:
    """No defect that the history has not, and no request that ends with an answer where the user had spoken."""
    texts = texts_of(data.draw(loose_elements(form)), style)
    cuts = data.draw(st.lists(st.integers(0, len(texts)), max_size=3))

    async def scenario() -> None:
        host = await play(form, texts, cuts, what, rename_repeated_ids=renames)
        await host.engine.close()

    run(scenario())
