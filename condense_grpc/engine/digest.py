"""The rolling digest of a transcript: each message has one that covers it and everything before it.

Two histories are the same up to a message exactly when the digests there are equal. The digest after the last message
is the transcript's etag, opaque for clients. Timestamps that the service assigned are not covered, so that a client
that has none resends the same bytes.
"""

import hashlib
from collections.abc import Iterable

START = bytes(16)


def next_digest(previous: bytes, message: bytes) -> bytes:
    """The digest after a message (16 bytes)."""
    return hashlib.blake2b(message, digest_size=16, key=previous).digest()


def digest_after(previous: bytes, keys: Iterable[bytes]) -> bytes:
    """The digest after a message that is identified by several pieces, one after another."""
    for key in keys:
        previous = next_digest(previous, key)
    return previous


def etag_of(digest: bytes) -> str:
    """The etag of a transcript that ends with this digest; empty for an empty transcript."""
    return "" if digest == START else digest.hex()
