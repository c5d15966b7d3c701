import pytest
from hypothesis import given

from condense_grpc.store.bodies import PLAIN, ZSTD, pack, unpack
from condense_grpc.store.errors import StoreDamaged
from condense_grpc.testing.store_samples import BODIES


@given(body=BODIES)
def test_packed_body_is_never_more_than_a_byte_longer(body: bytes) -> None:
    """Whatever does not shrink is left as it is."""
    [form] = pack([body])
    assert len(form) <= len(body) + 1
    assert unpack({7: form}) == {7: body}


def test_only_what_shrinks_is_compressed() -> None:
    """Tiny bodies stay as they are, repetitive ones become a frame."""
    assert [form[:1] for form in pack([b"", b"a" * 127, b"a" * 128, bytes(range(256))])] == [PLAIN, PLAIN, ZSTD, PLAIN]


@pytest.mark.parametrize("at", [0, 1, 8, -1])
def test_changed_byte_is_noticed(at: int) -> None:
    """A stored form that was damaged gives an error, never other bytes."""
    form = bytearray(pack([b"0123456789" * 100])[0])
    form[at] ^= 0xFF
    with pytest.raises(StoreDamaged):
        unpack({1: bytes(form)})


def test_empty_form_is_an_error() -> None:
    """Even an empty body has its marker."""
    with pytest.raises(StoreDamaged):
        unpack({1: b""})
