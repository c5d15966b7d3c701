"""Originals in chunks: the bytes of a text, cut so that no chunk ends within a character."""

from collections.abc import Iterator

CHUNK_BYTES = 1024 * 1024


def chunks(data: bytes, offset: int, limit: int | None) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each chunk. Only where `limit` cuts, a chunk may end within a character.

    There is always one chunk, which is empty when there is nothing behind the offset.
    """
    start = min(offset, len(data))
    stop = len(data) if limit is None else min(start + limit, len(data))
    while True:
        end = start + CHUNK_BYTES
        if end >= stop:
            yield start, data[start:stop]
            return
        while data[end] & 0xC0 == 0x80:
            end -= 1
        yield start, data[start:end]
        start = end
