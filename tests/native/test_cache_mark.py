"""Where a host asks the provider to cache, it still does in the view."""

import json

import pytest

from condense_grpc.engine.requests import ViewKind
from condense_grpc.native.cache_mark import stub_content
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.shapes import shape_of
from tests.engine.harness import World
from tests.native.histories import Json
from tests.native.host import Host
from tests.native.test_views_property import CONFIG, do

SHORT = {"cache_control": {"type": "ephemeral"}}
LONG = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def text(said: str) -> Json:
    return {"type": "text", "text": said}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("long", "S"),
        ([text("long")], [text("S")]),
        ([text("long") | LONG], [text("S") | LONG]),
        ([text("a") | SHORT, text("b") | LONG, text("c")], [text("S") | LONG]),
        ([], [text("S")]),
        ([None, 7, "cache_control", text("a") | SHORT], [text("S") | SHORT]),
    ],
)
def test_a_stub_has_the_last_mark_of_what_it_stands_for(content: object, expected: object) -> None:
    """In the part, where content is a list: that is where hosts and gateways write it."""
    assert json.loads(stub_content(json.dumps(content), "S")) == expected
    chat = json.dumps({"role": "tool", "tool_call_id": "c", "content": content})
    assert json.loads(shape_of(NativeFormat.OPENAI_CHAT).with_stub(chat, "S"))["content"] == expected
    block = json.dumps({"type": "tool_result", "tool_use_id": "c", "content": content} | SHORT)
    stub = json.loads(shape_of(NativeFormat.ANTHROPIC).with_stub(block, "S"))
    assert (stub["content"], stub["cache_control"]) == (expected, SHORT["cache_control"])


async def test_a_mark_within_a_result_comes_and_goes_with_the_host() -> None:
    """The stub of a result is shown with the mark while the host sends it, and without it afterwards."""
    call = {"type": "function", "function": {"name": "read", "arguments": "{}"}}
    asked = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a"} | call, {"id": "b"} | call]},
    ]
    results = [{"role": "tool", "tool_call_id": one, "content": [text(f"{one} {'word ' * 80}")]} for one in ("a", "b")]
    marked = [results[0], results[1] | {"content": [results[1]["content"][0] | LONG]}]
    world = World()
    await world.agent("s", **CONFIG | {"chain_compression": {"rolling_window": 9}})
    host = Host(world.engine, NativeFormat.OPENAI_CHAT)
    await host.send([json.dumps(one) for one in [*asked, *marked, {"role": "assistant", "content": "done"}]])
    await do(world, host, "flush")
    assert [LONG.items() <= part.items() for part in _results(await host.view())] == [False, True]
    await host.send([json.dumps(one) for one in results], 2, view=ViewKind.NONE)
    assert [LONG.items() <= part.items() for part in _results(await host.view())] == [False, False]
    await world.engine.close()


def _results(view: list[Json]) -> list[Json]:
    return [one["content"][0] for one in view if one["role"] == "tool"]
