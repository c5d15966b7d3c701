"""Histories in no order: views have no defect that their history has not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis import settings, HealthCheck

from condense_grpc.native.formats import NativeFormat
from tests.native.histories import styles, texts_of, Json
from tests.native.loose_histories import loose_elements
from tests.native.test_views_property import operations, play, run
import os


@pytest.mark.parametrize("form", NativeFormat)
@settings(max_examples=int(os.environ.get("N", "100")), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), style=styles, what=operations, renames=st.booleans())
def test_views_of_loose_histories_are_no_worse(
    form: NativeFormat, data: st.DataObject, style: Json, what: list[str], renames: bool
) -> None:
    """Whatever stands where, nothing that a provider refuses comes in."""
    texts = texts_of(data.draw(loose_elements(form)), style)
    cuts = data.draw(st.lists(st.integers(0, len(texts)), max_size=3))

    async def scenario() -> None:
        host = await play(form, texts, cuts, what, rename_repeated_ids=renames)
        await host.engine.close()

    run(scenario())
