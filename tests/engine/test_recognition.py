"""Fingerprints of sent messages: how many are the same, and up to where that is known."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.engine.recognition import Recollection, SentPrints
from condense_grpc.engine.transcript import Transcript
from tests.domain.histories import user

SENT = st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=12)


@given(SENT, SENT, st.integers(0, 5), st.integers(0, 5))
def test_the_count_is_that_of_the_leading_equal_messages(
    mine: list[bytes], theirs: list[bytes], mine_first: int, theirs_first: int
) -> None:
    """Position by position; what begins before the known messages is not known."""
    counted = SentPrints.of(mine_first, mine).count_equal(SentPrints.of(theirs_first, theirs))
    known = dict(enumerate(mine, mine_first))
    expected = 0
    for position, message in enumerate(theirs, theirs_first):
        if known.get(position) != message:
            break
        expected += 1
    assert counted == expected


@given(SENT, st.integers(0, 5), st.integers(0, 20))
def test_until_keeps_what_lies_before(sent: list[bytes], first: int, length: int) -> None:
    """Also when nothing does."""
    assert SentPrints.of(first, sent).until(length) == SentPrints.of(first, sent[: max(length - first, 0)])


def test_no_more_is_recognised_than_there_are_digests() -> None:
    """A rewind may be half done while another thread looks."""
    sent = SentPrints.of(0, [b"a", b"b", b"c"])
    found = Recollection(sent, [b"1", b"2"]).recognise(sent, list)
    assert found is not None and (found.count, found.digest) == (2, b"2")
    assert Recollection(sent, []).recognise(sent, list) is None


class Interrupted(Transcript):
    """Changes once, while somebody looks at its digests."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        change = super().__getattribute__("__dict__").pop("change", None) if name == "digests" else None
        if change is not None:
            change()
        return found


def test_prints_and_digests_are_of_one_path() -> None:
    """Whatever happens to the transcript while it is asked: else a rewind there and back would pass unnoticed."""
    transcript = Interrupted(())
    sent = {name: SentPrints.of(0, [b"a", name.encode()]) for name in ("b", "c")}

    def become(name: str) -> None:
        transcript.extend(0, [user(None, "a"), user(None, name)], 1)
        transcript.remember_sent(sent[name])

    become("b")
    of_b = transcript.digest_at(2)
    transcript.change = lambda: become("c")  # type: ignore[attr-defined]
    found = transcript.recollect().recognise(sent["c"], list)
    assert found is None or (found.count, found.digest) != (2, of_b)
    become("c")
    found = transcript.recollect().recognise(sent["c"], list)
    assert found is not None and (found.count, found.digest) == (2, transcript.digest_at(2))
