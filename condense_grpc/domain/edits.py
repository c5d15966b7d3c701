"""Edits: what turns the raw transcript into the view, in the transcript's own positions.

Edits are ordered by position and complete: raw + edits = view. They name positions of the raw transcript only, so
that a client can apply them to its own message objects. An insert or a move with anchor -1 stands before the first
message; anchors hold also when the message there is dropped; several at one anchor follow each other in order. A
message that moves and is edited is edited first.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.json_text import compact, parse_object, parse_or_text
from condense_grpc.domain.messages import TOOL_RESULT, Message, TextPart, ThinkingPart, ToolCallPart
from condense_grpc.domain.view import Element, StubReason

T = TypeVar("T")


class InsertKind(StrEnum):
    """What an inserted message is. Notices stand only in views in a provider's shape."""

    SUMMARY = "summary"
    COMPRESSED_CHAIN = "compressed-chain"
    NOTICE = "notice"


@frozen
class ReplaceResult:
    """The tool result becomes this text, and no error; its id, name and timestamp stay."""

    message_index: int
    text: str
    ref: str
    reason: StubReason


@frozen
class PurgeArguments:
    """The `call_index`-th call of the message gets these arguments."""

    message_index: int
    tool_call_id: str
    call_index: int
    arguments_json: str


@frozen
class Drop:
    """The message is not shown."""

    message_index: int


@frozen
class StripThinking:
    """The message loses its thinking parts."""

    message_index: int


@frozen
class InsertAfter:
    """A message of ours stands behind the message at this position."""

    message_index: int
    message: Message
    kind: InsertKind


@frozen
class MoveAfter:
    """The message at this position is shown behind the position `after_index` instead."""

    message_index: int
    after_index: int


Edit: TypeAlias = ReplaceResult | PurgeArguments | Drop | StripThinking | InsertAfter | MoveAfter


def edits_of(elements: Sequence[Element], origins: Sequence[int | Message], length: int, first: int = 0) -> list[Edit]:
    """The edits behind a view.

    `origins` says for each position of the rendered list where it came from: a position of the raw transcript, or a
    summary message of ours. `length` is that of the raw transcript. With `first` the list is a piece of the whole that
    ends before `length`, and so do the edits; nothing of ours may stand before the first message that is shown of it.
    """
    placed: list[tuple[int, int, Edit]] = []
    shown: set[int] = set()
    anchor = first - 1
    for element in elements:
        origin = origins[element.position] if element.position >= 0 else None
        if isinstance(origin, int):
            shown.add(origin)
            placed += [(origin, -1, edit) for edit in _changes(element, origin)]
            if origin > anchor:
                anchor = origin
            else:
                placed.append((anchor, len(placed), MoveAfter(origin, anchor)))
        elif element.block is not None:
            insert = InsertAfter(anchor, element.block.message(), InsertKind.COMPRESSED_CHAIN)
            placed.append((anchor, len(placed), insert))
        elif isinstance(origin, Message):
            placed.append((anchor, len(placed), InsertAfter(anchor, origin, InsertKind.SUMMARY)))
    placed += [(index, -1, Drop(index)) for index in range(first, length) if index not in shown]
    placed.sort(key=lambda item: item[:2])
    return [edit for _, _, edit in placed]


def _changes(element: Element, index: int) -> list[Edit]:
    edits: list[Edit] = []
    if element.stub:
        edits.append(ReplaceResult(index, element.stub.text, element.stub.ref, element.stub.reason))
    for ordinal, text in sorted(element.purged.items()):
        edits.append(PurgeArguments(index, element.skeleton.calls[ordinal].id, ordinal, text))
    if element.stripped and element.skeleton.thinking:
        edits.append(StripThinking(index))
    return edits


def apply_edits(messages: Sequence[T | Message], edits: Sequence[Edit]) -> list[T | Message]:
    """The view of a raw transcript. Something else may stand for a message that has no edit of its own."""
    edited = list(messages)
    absent: set[int] = set()
    behind: dict[int, list[int | Message]] = {}
    for edit in edits:
        match edit:
            case Drop():
                absent.add(edit.message_index)
            case InsertAfter():
                behind.setdefault(edit.message_index, []).append(edit.message)
            case MoveAfter():
                absent.add(edit.message_index)
                behind.setdefault(edit.after_index, []).append(edit.message_index)
            case _:
                message = edited[edit.message_index]
                assert isinstance(message, Message)
                edited[edit.message_index] = edit_message(message, edit)
    view: list[T | Message] = []
    start = 0
    for index in sorted({*absent, *behind}):
        view += edited[start : index if index in absent else index + 1]
        view += [edited[item] if isinstance(item, int) else item for item in behind.get(index, ())]
        start = index + 1
    return view + edited[start:]


def edit_message(message: Message, edit: ReplaceResult | PurgeArguments | StripThinking) -> Message:
    """One message with one edit. What its host wrote around the edited place stays as the host wrote it."""
    match edit:
        case ReplaceResult():
            return Message(
                TOOL_RESULT,
                (TextPart(edit.text),),
                message.timestamp_ms,
                tool_call_id=message.tool_call_id,
                tool_name=message.tool_name,
            )
        case StripThinking():
            kept = tuple(part for part in message.parts if not isinstance(part, ThinkingPart))
            return replace(message, parts=kept, source_json=_source_with(message, _without_thinking))
        case PurgeArguments():
            places = [index for index, part in enumerate(message.parts) if isinstance(part, ToolCallPart)]
            parts = list(message.parts)
            call = parts[places[edit.call_index]]
            assert isinstance(call, ToolCallPart)
            parts[places[edit.call_index]] = replace(call, arguments_json=edit.arguments_json)
            source = _source_with(message, lambda content: _with_arguments(content, edit))
            return replace(message, parts=tuple(parts), source_json=source)


def _source_with(message: Message, change: Callable[[list[Any]], list[Any]]) -> str:
    """The host's own JSON of an assistant message with another content; nothing if it did not come as JSON."""
    value = parse_object(message.source_json)
    return compact(value | {"content": change(value["content"])}) if value else ""


def _without_thinking(content: list[Any]) -> list[Any]:
    return [block for block in content if not _is_block(block, "thinking")]


def _with_arguments(content: list[Any], edit: PurgeArguments) -> list[Any]:
    places = [index for index, block in enumerate(content) if _is_block(block, "toolCall")]
    place = places[edit.call_index]
    purged = content[place] | {"arguments": parse_or_text(edit.arguments_json)}
    return [*content[:place], purged, *content[place + 1 :]]


def _is_block(block: Any, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind
