"""Histories in a provider's shape, in both directions."""

from collections.abc import Sequence

from condense_grpc.api.condense.v1 import edit_pb2, transcript_pb2
from condense_grpc.domain.edits import Drop, InsertKind, MoveAfter, PurgeArguments, ReplaceResult, StripThinking
from condense_grpc.engine.requests import NativeElements
from condense_grpc.errors import NativeJsonInvalid, NotImplementedYet, RequestInvalid
from condense_grpc.native.changes import Inserted, NativeEdit, RenameCall
from condense_grpc.native.json_read import JsonFault, RawElement, read_elements
from condense_grpc.server.convert.enums import INSERT_KIND, MESSAGE_FORMAT, REPLACE_REASON
from condense_grpc.server.convert.wire_text import wire_text

FIELD = "delta.native"


def read_native(native: transcript_pb2.NativeMessages, first_index: int = 0) -> NativeElements:
    """The elements of a payload; `first_index` elements of earlier chunks come before them."""
    if native.format == transcript_pb2.MESSAGE_FORMAT_UNSPECIFIED:
        raise RequestInvalid(f"{FIELD}.format", "must be set: it says how the JSON is to be read")
    form = MESSAGE_FORMAT.read(native.format)
    if form is None:
        raise NotImplementedYet(f"format {native.format}")
    try:
        elements = read_elements(native.json, first_index)
    except JsonFault as fault:
        facts: dict[str, str | int] = {"format": transcript_pb2.MessageFormat.Name(native.format)}
        facts |= {} if fault.element_index is None else {"elementIndex": fault.element_index}
        facts |= {} if fault.offset is None else {"offset": fault.offset}
        raise NativeJsonInvalid(f"{FIELD}.json", str(fault), **facts) from None
    return NativeElements(form, elements)


def joined(first: NativeElements | None, more: NativeElements) -> NativeElements:
    """The elements of two chunks of one stream."""
    if first is None:
        return more
    if first.format is not more.format:
        raise RequestInvalid(f"{FIELD}.format", "must be the same in all chunks of a stream")
    return NativeElements(first.format, [*first.elements, *more.elements])


def sizes_of(elements: Sequence[RawElement]) -> list[int]:
    """Bytes of each element."""
    return [len(element.text.encode()) for element in elements]


def write_native_edit(edit: NativeEdit, target: edit_pb2.Edit) -> None:
    """Write one edit into an empty one."""
    target.message_index = edit.message_index
    target.native_json = edit.native_json.encode()
    if edit.part_index is not None:
        target.part_index = edit.part_index
    change = edit.change
    match change:
        case ReplaceResult():
            replaced = target.replace_result
            replaced.text = wire_text(change.text)
            replaced.ref = wire_text(change.ref)
            replaced.reason = REPLACE_REASON.write(change.reason)
        case PurgeArguments():
            purged = target.purge_arguments
            purged.tool_call_id = wire_text(change.tool_call_id)
            purged.call_index = change.call_index
            purged.arguments_json = wire_text(change.arguments_json)
        case Drop():
            target.drop.SetInParent()
        case StripThinking():
            target.strip_thinking.SetInParent()
        case MoveAfter():
            target.move_after.after_index = change.after_index
        case RenameCall():
            renamed = target.rename_call
            renamed.tool_call_id = wire_text(change.tool_call_id)
            renamed.call_index = change.call_index
            renamed.new_tool_call_id = wire_text(change.new_id)
        case Inserted():
            inserted = target.insert_after
            inserted.native_json = edit.inserted_json.encode()
            inserted.kind = _kind(change.kind)


def _kind(kind: InsertKind | None) -> edit_pb2.InsertKind.ValueType:
    return edit_pb2.INSERT_KIND_UNSPECIFIED if kind is None else INSERT_KIND.write(kind)
