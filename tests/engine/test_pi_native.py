"""Pi sessions that move in to go on in Pi's own shape, or with messages of the contract."""

import json
from dataclasses import replace
from typing import Any

import pytest

from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.engine.requests import Delta, NativeElements, PruneRequest, PruneResult, ViewKind
from condense_grpc.errors import RequestInvalid
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.json_read import read_elements
from tests.engine.harness import LONG, QUIET, Agent, World
from tests.engine.pi_files import PiWriter, entries_of, export_data, import_data, record, ref


def pruned_session() -> PiWriter:
    """One turn that was summarized, and another one."""
    pi = PiWriter()
    pi.user("é\u2028")
    pi.call("a", arguments={"n": 1.0})
    time = pi.result("a", LONG)
    pi.answer()
    pi.custom("context-prune-index", {"toolCalls": [record("a", time, LONG, args={"n": 1.0})]})
    pi.summary("- `t1` did it", [ref("t1", "a", time)])
    pi.user("more")
    pi.call("b")
    pi.result("b", f"b: {LONG}")
    pi.answer()
    return pi


def told(*lines: str) -> bytes:
    """The messages of entries as a host in Pi's shape sends them."""
    found = [line[line.index('"message":') + len('"message":') : -1] for line in lines if '"type":"message"' in line]
    return f"[{','.join(found)}]".encode()


def native(data: bytes, base: int = 0, etag: str = "") -> Delta:
    return Delta(base, etag, (), native=NativeElements(NativeFormat.PI, read_elements(data)))


async def prune(world: World, delta: Delta | None = None, view: ViewKind = ViewKind.FULL) -> PruneResult:
    return await world.engine.prune(PruneRequest("pi-1", delta, view))


async def test_a_host_in_its_own_shape_goes_on(world: World) -> None:
    """It is known by its bytes, from the first message on, and everything decided holds."""
    pi = pruned_session()
    imported = await import_data(world.engine, pi.data, is_native=True)
    assert (imported.info.native, imported.info.length) == (NativeFormat.PI, 8)
    whole = await prune(world, native(told(*pi.lines)))
    assert (whole.etag, whole.applied.stubs, whole.applied.summaries) == (imported.info.etag, 1, 1)
    assert whole.native is not None
    shown = json.loads(whole.native.json)
    assert shown[2]["content"][0]["text"].startswith("[Summarized")
    later = PiWriter()
    later.clock = pi.clock
    later.user("c")
    later.call("c")
    later.result("c", f"c: {LONG}")
    later.answer()
    await prune(world, native(told(*later.lines), 8, whole.etag))
    flushed = await Agent(world, "pi-1").flush()
    assert [batch.refs for batch in flushed.batches] == [("t2",), ("t3",)]
    data = await export_data(world.engine, "pi-1")
    assert data.startswith(pi.data)
    sent = [json.loads(line)["message"] for line in later.lines[1:]]
    assert [one["message"] for one in entries_of(data) if one["type"] == "message"][8:] == sent


async def test_the_views_of_both_forms_are_equal(world: World) -> None:
    data = pruned_session().data
    await import_data(world.engine, data, is_native=True)
    await import_data(world.engine, data, "typed")
    typed = await Agent(world, "typed").view()
    shown = (await prune(world)).native
    assert shown is not None
    assert [replace(one, source_json="") for one in typed] == [
        message_from_pi(one, keep_source=False) for one in json.loads(shown.json)
    ]


async def test_a_host_of_messages_of_the_contract_is_known_by_what_they_say(world: World) -> None:
    """Not by how the file writes it; the file keeps its bytes."""
    pi = pruned_session()
    imported = await import_data(world.engine, pi.data)
    assert imported.info.native is None
    messages = [message_from_pi(value, keep_source=False) for value in json.loads(told(*pi.lines))]
    assert not any(message.source_json for message in messages)
    again = await prune(world, Delta(0, "", messages))
    assert (again.etag, again.applied.stubs) == (imported.info.etag, 1)
    assert await export_data(world.engine, "pi-1") == pi.data


@pytest.mark.parametrize("is_native", [False, True])
async def test_the_other_form_is_refused(world: World, is_native: bool) -> None:
    """Except from the beginning."""
    await import_data(world.engine, pruned_session().data, is_native=is_native)
    other = Delta(8, "", ()) if is_native else native(b"[]", 8)
    with pytest.raises(RequestInvalid):
        await prune(world, other)


async def test_messages_that_no_host_could_send(world: World) -> None:
    """What is no object is no message; what is no UTF-8 is shown as far as it can be. The file keeps both."""
    pi = PiWriter()
    pi.user("one")
    pi.raw('{"type":"message","id":"x1","parentId":"e1","message":5}')
    pi.raw('{"type":"message","id":"x2","parentId":"x1","message":{"role":"user","content":"\udcff","timestamp":5}}')
    imported = await import_data(world.engine, pi.data, is_native=True)
    assert (imported.counts.messages, imported.counts.ignored_lines) == (2, 1)
    shown: Any = (await prune(world)).native
    assert json.loads(shown.json)[1]["content"] == "\ufffd"
    assert await export_data(world.engine, "pi-1") == pi.data
    await import_data(world.engine, pi.data, "typed")
    assert (await export_data(world.engine, "typed")).splitlines()[1:] == pi.data.splitlines()[1:]


async def test_a_compaction_of_the_host_in_its_shape(world: World) -> None:
    """The history that the host sends then is known too."""
    pi = pruned_session()
    pi.add("compaction", summary="so far", firstKeptEntryId="e7", tokensBefore=9)
    pi.user("go on")
    await import_data(world.engine, pi.data, is_native=True)
    time = json.loads(pi.lines[-2])["timestamp"]
    assert time.endswith("20.000Z")
    begin = '{"role":"compactionSummary","summary":"so far","tokensBefore":9,"timestamp":1700000000000}'
    rest = told(*pi.lines[7:])
    before = await prune(world)
    again = await prune(world, native(b"[" + begin.encode() + b"," + rest[1:]))
    assert (again.length, again.etag) == (6, before.etag)
    assert await export_data(world.engine, "pi-1") == pi.data


async def test_elements_count_where_clients_count(world: World) -> None:
    """A diagnostic tells its place in the client's own history, and keeps it on the way to another session."""
    await world.engine.start()
    await world.engine.create_session("a", config=QUIET, labels={})
    block = '{"type":"tool_result","tool_use_id":"%s","content":"x"}'
    ask = '{"role":"user","content":"go"}'
    turn = f'{{"role":"user","content":[{block % "p"},{block % "q"}]}}'
    elements = NativeElements(NativeFormat.ANTHROPIC, read_elements(f"[{ask},{turn},{ask}]".encode()))
    await world.engine.prune(PruneRequest("a", Delta(0, "", (), native=elements)))
    await import_data(world.engine, await export_data(world.engine, "a"), "b")
    for name, length in (("a", 3), ("b", 4)):
        noticed = await world.engine.diagnostic_entries(name, 0, 9)
        assert [(one.kind, one.transcript_length) for one in noticed] == [("orphan-sweep", length)]
