"""A summary as a message: what is put together piece by piece is what reading the whole would find."""

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.batches import Ref, SummaryDetails
from condense_grpc.domain.entries import SummaryEntry
from condense_grpc.domain.json_text import compact
from condense_grpc.domain.pi_json import message_to_pi
from condense_grpc.domain.skeleton import skeleton_of
from condense_grpc.domain.summary_message import skeleton_of_summary, summary_message, summary_skeleton

TIMES = st.one_of(st.none(), st.integers(-(10**12), 10**13))
REFS = st.builds(Ref, st.text(max_size=5), st.text(max_size=5), TIMES, st.one_of(st.none(), st.integers(0, 5)))
ENTRIES = st.builds(
    SummaryEntry,
    st.text(min_size=1),
    st.builds(
        SummaryDetails,
        st.lists(REFS, max_size=4).map(tuple),
        st.lists(st.text(max_size=5), max_size=3).map(tuple),
        st.one_of(st.none(), st.integers(0, 99)),
        TIMES,
    ),
    TIMES,
)


@given(ENTRIES)
def test_the_skeleton_of_a_summary_is_that_of_its_message(entry: SummaryEntry) -> None:
    """Without reading the message again."""
    message = summary_message(entry)
    assert compact(message_to_pi(message)) == message.source_json
    assert summary_skeleton(entry) == skeleton_of(message, ()) == skeleton_of_summary(message, entry.details.refs)
