"""What a server decides about a session, in words that do not depend on the shape in which it was sent.

Positions and times differ between shapes; which results are shown short and how, which arguments are purged, what is
inserted, and what becomes of every result must not.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from condense_grpc.api.condense.v1.edit_pb2 import Edit
from condense_grpc.api.condense.v1.tool_call_pb2 import ToolCallRecord
from condense_grpc.client import View

# The one line of a block that tells times: hosts without any get the server's.
_TIMES = re.compile("^Span: .*$", re.MULTILINE)


def decisions_of_view(view: View[Any]) -> str:
    """A name for what a view shows differently."""
    found = sorted(repr(one) for edit in view.edits for one in _of_edit(edit))
    applied = view.applied
    return _name([*found, applied.swept_results, applied.inserted_summaries, applied.inserted_chains])


def decisions_about_results(records: Iterable[ToolCallRecord]) -> str:
    """A name for what has become of all results."""
    listed = list(records)
    refs = {record.occurrence_key: record.ref for record in listed}
    told = [(one.tool_call_id, one.ref, one.state, refs.get(one.duplicate_of, "")) for one in listed]
    return _name(sorted(told))


def _of_edit(edit: Edit) -> Iterator[tuple[Any, ...]]:
    match edit.WhichOneof("change"):
        case "replace_result":
            yield ("stub", edit.replace_result.ref, edit.replace_result.reason, edit.replace_result.text)
        case "purge_arguments":
            yield ("purge", edit.purge_arguments.tool_call_id, edit.purge_arguments.arguments_json)
        case "insert_after" if not edit.insert_after.kind:
            return  # A part of the host's that has moved.
        case "insert_after" if edit.insert_after.native_json:
            yield from (("insert", _TIMES.sub("", text)) for text in _texts(json.loads(edit.insert_after.native_json)))
        case "insert_after":
            parts = (*edit.insert_after.message.user.parts, *edit.insert_after.message.custom.parts)
            yield from (("insert", _TIMES.sub("", part.text.text)) for part in parts if part.HasField("text"))


def _texts(value: Any) -> Iterator[str]:
    """The texts of an element or a part, whatever the shape calls them."""
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name in ("text", "content", "parts"):
            inner = value.get(name)
            yield from [inner] if isinstance(inner, str) else _texts(inner)


def _name(value: Any) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
