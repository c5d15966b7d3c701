"""Views as Pi JSON, from the caller's own JSON messages: untouched ones are the same objects."""

from collections.abc import Sequence
from typing import Any

from condense_grpc.domain.json_text import parse_or_text
from condense_grpc.domain.pi_json import message_to_pi
from condense_grpc.domain.skeleton import stub_json
from condense_grpc.domain.view import Element


def element_json(element: Element, messages: Sequence[Any]) -> Any:
    if element.block is not None:
        return message_to_pi(element.block.message())
    value = messages[element.position]
    if element.stub is not None:
        return stub_json(element.skeleton, element.stub.text)
    if element.stripped:
        value = {**value, "content": [b for b in value["content"] if not _is_type(b, "thinking")]}
    if element.purged:
        value = {**value, "content": _purged(value["content"], element.purged)}
    return value


def _is_type(block: Any, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


def _purged(content: list[Any], purged: dict[int, str]) -> list[Any]:
    shown, ordinal = [], -1
    for block in content:
        if _is_type(block, "toolCall"):
            ordinal += 1
            if ordinal in purged:
                block = {**block, "arguments": parse_or_text(purged[ordinal])}
        shown.append(block)
    return shown


def view_json(elements: Sequence[Element], messages: Sequence[Any]) -> list[Any]:
    return [element_json(element, messages) for element in elements]
