"""What identifies an element: the bytes as it came, but for how its host asks the provider to cache it.

Hosts of Anthropic's models move `cache_control` to the newest message with every request, and write a content that
is one text as a list while it is marked. An element that differs in nothing else is still the same one.
"""

import zlib

from condense_grpc.native.cache_mark import MARK
from condense_grpc.native.json_edit import member_text, with_member, without_members
from condense_grpc.native.json_read import RawElement
from condense_grpc.native.json_scan import items_at, member_at
from condense_grpc.native.shape import Shape

_LISTS = ("content", "tool_calls")
_DEPTH = 3


def key_of(shape: Shape, element: RawElement) -> bytes:
    """The bytes by which an element is identified, also told apart from the same text in another shape."""
    text = element.text
    if shape.has_cache_marks:
        if f'"{MARK}"' in text:
            text = _unmarked(text, _DEPTH)
        if _is_one_text(element):
            text = _as_text(text)
    return shape.format.value.encode() + b"\0" + text.encode()


def style_of(text: str) -> int:
    """A number for the exact bytes of an element."""
    return zlib.crc32(text.encode())


def _unmarked(text: str, depth: int) -> str:
    """An object without marks in it, in the objects of its lists, and so on."""
    text = without_members(text, (MARK,))
    if not depth:
        return text
    for name in _LISTS:
        found = member_at(text, name)
        if found is None or text[found.start] != "[":
            continue
        done, pieces = 0, []
        for place in items_at(text, found.start):
            item = text[place.start : place.end]
            if item[0] == "{" and f'"{MARK}"' in item:
                pieces += [text[done : place.start], _unmarked(item, depth - 1)]
                done = place.end
        text = "".join(pieces) + text[done:]
    return text


def _is_one_text(element: RawElement) -> bool:
    content = element.value.get("content")
    if not isinstance(content, list) or len(content) != 1 or not isinstance(content[0], dict):
        return False
    block = content[0]
    return block.keys() - {MARK} == {"type", "text"} and block["type"] == "text" and isinstance(block["text"], str)


def _as_text(text: str) -> str:
    """An element whose content is the list of one text, with that text as its content."""
    content = member_text(text, "content") or "[]"
    [place] = items_at(content)
    block = content[place.start : place.end]
    return with_member(text, "content", member_text(block, "text") or '""')
