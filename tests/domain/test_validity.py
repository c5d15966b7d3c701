"""Validity of histories: the quick look finds something exactly when the thorough one does."""

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.messages import Message, Role
from condense_grpc.domain.skeleton import skeletons_of
from condense_grpc.domain.validity import find_violations, is_valid
from tests.domain.histories import messy_histories, stamped_histories


@given(messy_histories | stamped_histories, st.data())
def test_the_quick_look_agrees_with_the_thorough_one(messages: list[Message], data: st.DataObject) -> None:
    """From the begin, and from any assistant message."""
    skeletons = skeletons_of(messages, ())
    assistants = [at for at, one in enumerate(skeletons) if one.role is Role.ASSISTANT]
    start = data.draw(st.sampled_from([0, *assistants]))
    assert is_valid(skeletons, start) == (not find_violations(skeletons, start))
