"""How a body is stored: one byte that names the form, then the bytes as they are, or one zstd frame.

A frame knows its length and has a checksum, so that what comes back is what was written or an error.
"""

from collections.abc import Mapping, Sequence

from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError

from condense_grpc.store.errors import StoreDamaged

PLAIN = b"\x00"
ZSTD = b"\x01"
LEVEL = 3
# A frame needs some 20 bytes of its own: below this next to nothing is gained, and a short call is as long as this.
SMALLEST_BYTES = 128


def pack(bodies: Sequence[bytes]) -> list[bytes]:
    """The stored forms of bodies, in order. Slow for large ones: not for the event loop."""
    # A compressor is cheap to make and must not be shared between threads.
    compressor = ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=True)
    return [_packed(compressor, body) for body in bodies]


def _packed(compressor: ZstdCompressor, body: bytes) -> bytes:
    if len(body) >= SMALLEST_BYTES:
        frame = compressor.compress(body)
        if len(frame) < len(body):
            return ZSTD + frame
    return PLAIN + body


def unpack(packed: Mapping[int, bytes]) -> dict[int, bytes]:
    """The bodies of stored forms, by node. Raises StoreDamaged for bytes that `pack` did not make."""
    decompressor = ZstdDecompressor()
    try:
        return {node: _unpacked(decompressor, form) for node, form in packed.items()}
    except ZstdError:
        raise StoreDamaged from None


def _unpacked(decompressor: ZstdDecompressor, form: bytes) -> bytes:
    marker = form[:1]
    if marker == PLAIN:
        return form[1:]
    if marker == ZSTD:
        return decompressor.decompress(memoryview(form)[1:])
    raise StoreDamaged
