"""JSON values as agents hold them: dicts and lists, and the model objects of the providers' SDKs.

An SDK object (anything with `model_dump`) counts as the JSON that it would be sent as. Text is written without
escapes, so that text which UTF-8 cannot hold raises `UnicodeEncodeError` when it enters a message.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from condense_grpc.api.condense.v1.message_pb2 import ImagePart, OpaquePart, Part, TextPart
from condense_grpc.client.adapters.base import MessageAdapter


class JsonAdapter(MessageAdapter[Any]):
    """What the adapters of JSON shapes share: an object is a dict, or an SDK object that stands for one."""

    def split(self, item: Any) -> list[Any]:
        """The object as plain JSON is its only piece."""
        return [plain_object(item)]

    def snapshot(self, item: Any) -> object:
        """A copy of the containers; texts are shared."""
        return plain(item)

    def is_unchanged(self, item: Any, snapshot: object) -> bool:
        """Whether the JSON is equal; the order of members does not count."""
        return bool(item == snapshot) or plain(item) == snapshot


def plain(value: Any) -> Any:
    """The value with containers of its own, and SDK objects as dicts."""
    if isinstance(value, Mapping):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    dump = getattr(value, "model_dump", None)
    return plain(dump(mode="json", exclude_unset=True)) if callable(dump) else value


def plain_object(value: Any) -> dict[str, Any]:
    """The members of a message. Raises `TypeError` for what is none."""
    value = plain(value)
    if not isinstance(value, dict):
        raise TypeError("not a JSON object")
    return value


def compact(value: Any) -> str:
    """Compact JSON text in the order of the members, non-ASCII characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def rest(value: Mapping[str, Any], *known: str) -> str:
    """The members that are not known, as the text of an object; empty if there are none."""
    extra = {name: member for name, member in value.items() if name not in known}
    return compact(extra) if extra else ""


def parse_object(text: str) -> dict[str, Any]:
    """The members in an `extra_json`."""
    value = parse_or_text(text) if text else {}
    return value if isinstance(value, dict) else {}


def parse_or_text(text: str) -> Any:
    """The value of a JSON text, or the text itself if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def text_or_empty(value: Any) -> str:
    """The string, or the empty one for everything else."""
    return value if isinstance(value, str) else ""


def text_part(text: str, extra_json: str = "") -> Part:
    """A part of plain text."""
    return Part(text=TextPart(text=text), extra_json=extra_json)


def opaque_part(kind: str, block: Any) -> Part:
    """A part that is carried along as it is."""
    return Part(opaque=OpaquePart(type=kind, json=compact(block)))


def bytes_of(text: Any) -> bytes:
    """The bytes of canonical base64; empty for everything else."""
    if not isinstance(text, str) or not text:
        return b""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return data if base64_of(data) == text else b""


def base64_of(data: bytes) -> str:
    """The canonical base64 of bytes."""
    return base64.b64encode(data).decode("ascii")


def data_uri(image: ImagePart) -> str:
    """The address of an image, with its bytes inside if it has them."""
    return f"data:{image.media_type};base64,{base64_of(image.data)}" if image.data else image.uri
