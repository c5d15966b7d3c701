"""Pins: what a client wants to see verbatim."""

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.entries import PinEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.pins import Pin, PinBoard

ENTRIES = st.lists(
    st.builds(
        PinEntry,
        st.lists(st.sampled_from("abc"), max_size=3).map(tuple),
        st.one_of(st.none(), st.integers(0, 9)),
        st.booleans(),
    )
)


def test_a_pin_holds_until_an_entry_takes_it_away() -> None:
    """Its time alone takes no pin away."""
    board = PinBoard()
    board.apply(PinEntry(("a", "b"), expires_ms=10))
    board.apply(PinEntry(("b",), unpin=True))
    assert (board.holds("a"), board.holds("b")) == (True, False)
    assert board.holds("a", 9)
    assert not board.holds("a", 10)
    assert "a" in board
    assert board.ended(10) == ("a",)
    assert board.ended(9) == ()


def test_a_later_pin_stands_in_place_of_an_earlier_one() -> None:
    """A lifetime counts from the last call; without one the pin never ends."""
    board = PinBoard()
    board.apply(PinEntry(("a",), expires_ms=10))
    board.apply(PinEntry(("a",), expires_ms=20))
    assert board.find("a") == Pin(20)
    board.apply(PinEntry(("a",)))
    assert board.find("a") == Pin(None)


@given(ENTRIES)
def test_what_an_entry_changes_is_what_differs_after_it(entries: list[PinEntry]) -> None:
    """Keys about which an entry says nothing new are left out, all others are there once."""
    board = PinBoard()
    for entry in entries:
        before = {key: board.find(key) for key in "abc"}
        said = board.changed_by(entry)
        board.apply(entry)
        assert list(said) == [key for key in dict.fromkeys(entry.keys) if board.find(key) != before[key]]
        assert board.changed_by(entry) == ()


def test_the_index_replays_pins() -> None:
    """Pins are decisions like all others: a rebuild gives the same."""
    entries = [PinEntry(("a", "b")), PinEntry(("a",), unpin=True)]
    index = SessionIndex.rebuild(entries)
    assert (index.is_pinned("a", "a"), index.is_pinned("b", "b")) == (False, True)
