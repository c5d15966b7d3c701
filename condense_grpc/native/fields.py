"""Members of JSON objects as rules need them: whatever has the wrong form counts as absent."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from condense_grpc.domain.json_text import compact
from condense_grpc.domain.messages import ImagePart, OpaquePart, Part, TextPart
from condense_grpc.domain.pi_json import text_or_empty

Json = Mapping[str, Any]


def rest(value: Json, *known: str) -> str:
    """The members that are not known, as the text of an object; empty if there are none."""
    extra = {name: member for name, member in value.items() if name not in known}
    return compact(extra) if extra else ""


def objects_in(value: Any) -> list[Json]:
    """The objects of a list; none if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def first_text(value: Json, names: Iterable[str]) -> str:
    """The first of these members that is a text."""
    return next((value[name] for name in names if isinstance(value.get(name), str)), "")


def bytes_of(text: Any) -> bytes:
    """The bytes of canonical base64; empty for everything else."""
    if not isinstance(text, str) or not text:
        return b""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return data if base64.b64encode(data).decode() == text else b""


def image_of_uri(uri: str, extra_json: str = "") -> ImagePart:
    """An image by its address; one inside of the address by its bytes."""
    head, separator, encoded = uri.partition(";base64,")
    data = bytes_of(encoded) if separator and head.startswith("data:") else b""
    if data:
        return ImagePart(head.removeprefix("data:"), data, "", extra_json)
    return ImagePart("", b"", uri, extra_json)


def uri_of_image(image: ImagePart) -> str:
    """The address of an image, with its bytes inside if it has them."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}" if image.data else image.uri


def opaque(block: Any) -> OpaquePart:
    """A part that is carried along as it is."""
    kind = block.get("type") if isinstance(block, dict) else None
    return OpaquePart(text_or_empty(kind), compact(block))


def text_only(parts: Iterable[Part]) -> str | None:
    """The text of parts that are nothing but one text."""
    listed = list(parts)
    if len(listed) == 1 and isinstance(listed[0], TextPart) and not listed[0].extra_json:
        return listed[0].text
    return None
