"""The client and random histories in the shapes of providers: its own objects, and the whole view of the server."""

import asyncio
import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condense_grpc.api.condense.v1.condense_service_pb2_grpc import CondenseServiceStub
from condense_grpc.api.condense.v1.config_pb2 import PRUNE_ON_ON_DEMAND, SessionConfig
from condense_grpc.api.condense.v1.view_pb2 import VIEW_FULL, PruneMessagesRequest
from condense_grpc.client import AsyncCondenseClient, AsyncSession, native
from condense_grpc.native.formats import NativeFormat
from tests.client.test_native import connected
from tests.native.defects import DEFECTS, with_defects
from tests.native.histories import elements_of, valid_steps

# Nothing must happen by itself between the two views that are compared.
CONFIG = SessionConfig(prune_on=PRUNE_ON_ON_DEMAND, min_batch_chars=0)
broken = st.lists(st.tuples(st.sampled_from(DEFECTS), st.integers(0, 60)), max_size=2)


async def check(client: AsyncCondenseClient, session: AsyncSession[Any], history: list[Any]) -> None:
    """What the client makes of the edits is the server's view; objects that nothing happens to are the caller's."""
    before = copy.deepcopy(history)
    view = await session.prune(history)
    assert history == before
    asked = PruneMessagesRequest(session_id=session.session_id, view=VIEW_FULL)
    whole = await CondenseServiceStub(client.channel).PruneMessages(asked)
    assert view.messages == json.loads(whole.native_json)
    edits = view.edits
    edited = {edit.message_index for edit in edits if edit.native_json}
    dropped = {edit.message_index for edit in edits if edit.HasField("drop") and not edit.HasField("part_index")}
    shown = {id(item) for item in view.messages}
    for at, item in enumerate(history):
        assert (id(item) in shown) == (at not in edited | dropped)


@pytest.mark.parametrize("form", NativeFormat)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), steps=valid_steps(), defects=broken)
def test_edits_make_the_view_of_the_callers_own_objects(
    form: NativeFormat, data: st.DataObject, steps: list[Any], defects: list[Any]
) -> None:
    """Turn by turn, with flushes between, whether the history is valid or not."""
    history = with_defects(form, elements_of(form, steps), defects)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(len(history), 1)), max_size=3)))

    async def scenario() -> None:
        async with connected() as client:
            session = client.session("s1", config=CONFIG, adapter=native(form.value))
            for end in [*cuts, len(history)]:
                await check(client, session, history[:end])
                await session.flush(history[:end]).wait()
            await check(client, session, history)

    asyncio.run(scenario())
