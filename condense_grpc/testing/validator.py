"""A strict validator of histories, as hard as the hardest provider: for tests, and for the replay of sessions.

What it looks at is in `condense_grpc.domain.validity`. A view is judged against the transcript that it was made
from: it may have a defect only if the transcript has it too.
"""

from collections import Counter
from collections.abc import Sequence

from condense_grpc.domain.messages import Message
from condense_grpc.domain.skeleton import MessageSkeleton, skeletons_of
from condense_grpc.domain.validity import Violation, find_violations


def validate(messages: Sequence[Message]) -> list[Violation]:
    """The defects of a list of messages, by position; empty when every provider would take it."""
    return find_violations(skeletons_of(messages, ()))


def new_defects(raw: Sequence[MessageSkeleton], view: Sequence[MessageSkeleton]) -> list[Violation]:
    """The defects of a view that its transcript does not have."""
    known = Counter((violation.kind, violation.tool_call_id) for violation in find_violations(raw))
    found: list[Violation] = []
    for violation in find_violations(view):
        what = (violation.kind, violation.tool_call_id)
        if known[what] > 0:
            known[what] -= 1
        else:
            found.append(violation)
    return found
