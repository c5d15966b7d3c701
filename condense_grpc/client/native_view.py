"""Applies edits of native sessions, and reads their whole views.

Everything that happens within an element is in the JSON that an edit brings; what is left is to drop, to insert and to
move elements. Objects that nothing happens to come back as they are.
"""

import json
from collections import deque
from collections.abc import Sequence
from typing import Any

from condense_grpc.api.condense.v1.edit_pb2 import Edit
from condense_grpc.client.adapters.native import NativeAdapter
from condense_grpc.client.arrangement import EditNotUnderstood


def apply_native_edits(objects: Sequence[Any], edits: Sequence[Edit]) -> list[Any]:
    """The view. Raises `EditNotUnderstood`."""
    elements = list(objects)
    absent: set[int] = set()
    behind: dict[int, list[Any]] = {}
    for edit in edits:
        at, kind = edit.message_index, edit.WhichOneof("change")
        anchor = at if kind == "insert_after" else edit.move_after.after_index if kind == "move_after" else 0
        is_known = kind is not None or (edit.HasField("part_index") and edit.native_json)
        if not is_known or not -1 <= anchor < max(len(elements), 1) or not -1 <= at < len(elements):
            raise EditNotUnderstood(f"an edit at position {at} of {len(elements)}")
        if edit.native_json:
            elements[at] = json.loads(edit.native_json)
        if edit.HasField("part_index"):
            continue
        if kind == "drop":
            absent.add(at)
        elif kind == "insert_after":
            behind.setdefault(at, []).append(_Own(json.loads(edit.insert_after.native_json)))
        elif kind == "move_after":
            absent.add(at)
            behind.setdefault(anchor, []).append(at)
    view: list[Any] = []
    for index in range(-1, len(elements)):
        if index >= 0 and index not in absent:
            view.append(elements[index])
        view += [item.value if isinstance(item, _Own) else elements[item] for item in behind.get(index, ())]
    return view


class _Own:
    """An element that was inserted."""

    def __init__(self, value: Any) -> None:
        self.value = value


def read_native_view(adapter: NativeAdapter, objects: Sequence[Any], native_json: bytes) -> list[Any]:
    """The view that a server has written out. Elements that the caller has are the caller's own objects."""
    own: dict[Any, deque[Any]] = {}
    for item in objects:
        own.setdefault(adapter.json_of(item), deque()).append(item)
    view: list[Any] = []
    for element in json.loads(native_json):
        same = own.get(adapter.json_of(element))
        view.append(same.popleft() if same else element)
    return view
