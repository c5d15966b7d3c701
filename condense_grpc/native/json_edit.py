"""Changing a JSON text in single places, everything around them untouched."""

from collections.abc import Iterable
from typing import Any

from condense_grpc.domain.json_text import compact
from condense_grpc.native.json_scan import member_at, members_at, skip_space


def written(value: Any) -> str:
    """A value as JSON text that can always be sent: lone surrogates, which UTF-8 does not have, as escapes."""
    text = compact(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(f"\\u{ord(char):04x}" if 0xD800 <= ord(char) <= 0xDFFF else char for char in text)
    return text


def with_member(text: str, name: str, value_json: str) -> str:
    """The object with that value in the place of a member; without such a member, at its end."""
    found = member_at(text, name)
    if found is not None:
        return text[: found.start] + value_json + text[found.end :]
    members = members_at(text)
    if members:
        at = members[-1].end
        return f"{text[:at]},{written(name)}:{value_json}{text[at:]}"
    at = skip_space(text, 0) + 1
    return f"{text[:at]}{written(name)}:{value_json}{text[at:]}"


def without_members(text: str, names: Iterable[str]) -> str:
    """The object without the members of these names, each with the comma that belongs to it."""
    unwanted = set(names)
    members = members_at(text)
    kept = [member for member in members if member.name not in unwanted]
    if len(kept) == len(members):
        return text
    if not kept:
        return text[: skip_space(text, 0) + 1] + text[members[-1].end :].lstrip(" \t\n\r")
    pieces = [text[: members[0].name_start]]
    for place, member in enumerate(members):
        if member.name in unwanted:
            continue
        if len(pieces) > 1:
            # What stood before this member, behind the one before it: the comma as its host writes it.
            pieces.append(text[members[place - 1].end : member.name_start])
        pieces.append(text[member.name_start : member.end])
    return "".join(pieces) + text[members[-1].end :]


def member_text(text: str, name: str) -> str | None:
    """The text of a member's value."""
    found = member_at(text, name)
    return None if found is None else text[found.start : found.end]


def edited_member(text: str, path: Iterable[str], value_json: str) -> str:
    """The object with that value at the end of a path of members; the path must be there but for its last name."""
    first, *deeper = path
    if not deeper:
        return with_member(text, first, value_json)
    inner = member_text(text, first)
    assert inner is not None
    return with_member(text, first, edited_member(inner, deeper, value_json))
