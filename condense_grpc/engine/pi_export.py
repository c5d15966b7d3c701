"""A session written as a Pi session file: planned lines become bytes, a few at a time.

What a file brought along comes out byte for byte. Only where another line has come to stand before it, a line names
that one instead.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from condense_grpc.domain.batches import Record
from condense_grpc.domain.entries import AliasEntry, Entry, IndexEntry
from condense_grpc.domain.json_spans import members_of, with_member
from condense_grpc.domain.json_text import compact
from condense_grpc.domain.messages import Message
from condense_grpc.domain.pi_json import message_to_pi, number_or_none
from condense_grpc.domain.pi_writing import entry_to_pi, iso_time
from condense_grpc.engine.carried import CarriedFile, CarriedLine
from condense_grpc.engine.codec import decode_message, source_text
from condense_grpc.engine.pi_plan import PlannedLine
from condense_grpc.engine.ports import SessionRow
from condense_grpc.engine.recall import body_of

_VERSION = 3


def header_line(row: SessionRow, file: CarriedFile | None) -> bytes:
    """The first line: that of the imported file, under the id that the session has now."""
    if file is not None:
        if file.session_id == row.session_id:
            return _raw(file.header)
        return _raw(with_member(file.header, members_of(file.header), "id", row.session_id))
    return _json(
        {
            "type": "session",
            "version": _VERSION,
            "id": row.session_id,
            "timestamp": iso_time(row.create_time_ms),
            "cwd": "",
        }
    )


def write_line(line: PlannedLine, bodies: Mapping[int, bytes]) -> bytes:
    """The bytes of a line, without its line feed. `bodies` by node hold those that it needs."""
    if line.carried is not None:
        return _carried(line, line.carried, bodies)
    if line.entry is not None:
        return _decision(line, line.entry, bodies)
    return _message(line, bodies[line.node])


def _place(line: PlannedLine) -> dict[str, Any]:
    """Id, parent and time, as hosts write them. Behind a line without id there is no parent to name."""
    parent = {} if line.parent_id == "" else {"parentId": line.parent_id}
    return {"id": line.entry_id, **parent, "timestamp": iso_time(line.time_ms)}


def _carried(planned: PlannedLine, line: CarriedLine, bodies: Mapping[int, bytes]) -> bytes:
    text = line.head
    if line.body_node:
        body = bodies[line.body_node]
        # Forks of earlier versions have messages of their own under the nodes of their file, which have no source.
        text += source_text(body) or compact(message_to_pi(decode_message(body, planned.time_ms)))
        text += line.tail
    if planned.parent_id is not None:
        members = members_of(text)
        if "parentId" in members:
            text = with_member(text, members, "parentId", planned.parent_id)
    return _raw(text)


def _message(line: PlannedLine, body: bytes) -> bytes:
    """A message as its host wrote it, with the time that it has got here if its host gave it none."""
    message = decode_message(body, line.time_ms)
    value, source = message_to_pi(message), message.source_json
    if isinstance(value, dict) and number_or_none(value.get("timestamp")) != message.timestamp_ms:
        value, source = value | {"timestamp": message.timestamp_ms}, ""
    entry = {"type": "message", **_place(line), "message": value}
    if not source or "\n" in source or "\r" in source:
        return _json(entry)
    around = compact(entry | {"message": None}).removesuffix("null}")
    try:
        return _raw(f"{around}{source}}}")
    except UnicodeEncodeError:
        return _json(entry)


def _decision(line: PlannedLine, entry: Entry, bodies: Mapping[int, bytes]) -> bytes:
    value = entry_to_pi(_complete(entry, {node: decode_message(bodies[node], 0) for node in line.nodes}))
    assert value is not None
    if line.ends is not None:
        start, final = line.ends
        value["data"] |= {"startEntryId": start, "finalEntryId": final}
    return _json({**value, **_place(line)})


def _complete(entry: Entry, messages: Mapping[int, Message]) -> Entry:
    """The entry with the texts, arguments and parts of its records."""
    match entry:
        case IndexEntry():
            return replace(entry, records=tuple(_record(record, messages) for record in entry.records))
        case AliasEntry() if entry.record is not None:
            return replace(entry, record=_record(entry.record, messages))
        case _:
            return entry


def _record(record: Record, messages: Mapping[int, Message]) -> Record:
    body = body_of(record, messages)
    return record._replace(text=body.text, args_json=body.args_json, parts=body.parts)


def _json(value: Any) -> bytes:
    """Compact JSON. What has no bytes, a lone surrogate, is written as its escape."""
    try:
        return compact(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def _raw(text: str) -> bytes:
    """The bytes of a text that came as bytes."""
    return text.encode("utf-8", "surrogateescape")
