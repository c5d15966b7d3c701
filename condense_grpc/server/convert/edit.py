"""Edits, towards the wire."""

from condense_grpc.api.condense.v1 import edit_pb2 as pb
from condense_grpc.domain.edits import Drop, Edit, InsertAfter, MoveAfter, PurgeArguments, ReplaceResult, StripThinking
from condense_grpc.server.convert.enums import INSERT_KIND, REPLACE_REASON
from condense_grpc.server.convert.message import write_message
from condense_grpc.server.convert.wire_text import wire_text


def write_edit(edit: Edit, target: pb.Edit) -> None:
    """Write one edit into an empty one."""
    target.message_index = edit.message_index
    match edit:
        case ReplaceResult():
            replaced = target.replace_result
            replaced.text = wire_text(edit.text)
            replaced.ref = wire_text(edit.ref)
            replaced.reason = REPLACE_REASON.write(edit.reason)
        case PurgeArguments():
            purged = target.purge_arguments
            purged.tool_call_id = wire_text(edit.tool_call_id)
            purged.call_index = edit.call_index
            purged.arguments_json = wire_text(edit.arguments_json)
        case Drop():
            target.drop.SetInParent()
        case StripThinking():
            target.strip_thinking.SetInParent()
        case InsertAfter():
            write_message(edit.message, target.insert_after.message)
            target.insert_after.kind = INSERT_KIND.write(edit.kind)
        case MoveAfter():
            target.move_after.after_index = edit.after_index
