"""Page tokens: where a listing goes on.

A token holds a position and a digest of the position and of the request that it was given out for (all fields but
page size and token). It is opaque and checked, not secret: whoever could forge one would get nothing but a page that
the request can reach anyway. So it needs no key, and holds on every server and after a restart.
"""

import base64
import json
from hashlib import blake2b
from typing import Any

from google.protobuf.message import Message as ProtoMessage

from condense_grpc.errors import PageTokenInvalid
from condense_grpc.settings import INT64_MAX

_PERSON = b"condense.v1.page"
_DIGEST_BYTES = 12
_MAX_TOKEN_CHARS = 4096


def make_page_token(request: ProtoMessage, position: str | int) -> str:
    """The token with which the same request goes on behind `position`."""
    body = json.dumps(position, ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(_digest(request, body) + body).decode().rstrip("=")


def read_position(request: ProtoMessage, token: str) -> int:
    """The number at which a listing goes on; 0 for an empty token. Raises PageTokenInvalid."""
    position = _position_of(request, token) if token else 0
    if type(position) is not int or not 0 <= position <= INT64_MAX:
        raise PageTokenInvalid
    return position


def read_name(request: ProtoMessage, token: str) -> str:
    """The name behind which a listing goes on; empty for an empty token. Raises PageTokenInvalid."""
    position = _position_of(request, token) if token else ""
    if not isinstance(position, str) or "\0" in position:
        raise PageTokenInvalid
    return position


def _position_of(request: ProtoMessage, token: str) -> Any:
    if len(token) > _MAX_TOKEN_CHARS or not token.isascii():
        raise PageTokenInvalid
    try:
        data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        if digest != _digest(request, body):
            raise PageTokenInvalid
        return json.loads(body)
    except (ValueError, RecursionError):  # binascii.Error, JSONDecodeError and UnicodeDecodeError are ValueErrors
        raise PageTokenInvalid from None


def _digest(request: ProtoMessage, body: bytes) -> bytes:
    asked = type(request)()
    asked.CopyFrom(request)
    asked.ClearField("page_size")
    asked.ClearField("page_token")
    asked.DiscardUnknownFields()
    digest = blake2b(digest_size=_DIGEST_BYTES, person=_PERSON)
    digest.update(request.DESCRIPTOR.full_name.encode() + b"\0")
    digest.update(asked.SerializeToString(deterministic=True) + b"\0" + body)
    return digest.digest()
