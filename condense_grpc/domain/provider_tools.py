"""What the model asks in a way that is opaque to us, with the answer in a later message.

So it is when the provider paused an answer in which a tool of its own was at work, when such a tool waits for results
of the host, and when a host only names an item that the provider keeps. Such messages belong together: neither of them
may go without the other.
"""

from collections.abc import Sequence
from dataclasses import replace

from condense_grpc.domain.chains import Chain
from condense_grpc.domain.messages import ASSISTANT
from condense_grpc.domain.skeleton import MessageSkeleton


def late_answers(messages: Sequence[MessageSkeleton]) -> list[tuple[int, int]]:
    """Positions of messages that ask, each with that of a message with an answer."""
    if not messages or messages[0].native is None:
        return []
    found: list[tuple[int, int]] = []
    asked: list[int] = []
    for position, message in enumerate(messages):
        span = message.native
        if span is None:
            continue
        if span.resumes and message.role is ASSISTANT:
            found += [(at, position) for at in asked]
            asked = []
        elif span.resumes:  # A result, and others may answer the same message.
            found += [(at, position) for at in asked[-1:]]
        if span.awaits:
            asked.append(position)
    return found


def without_torn(chains: Sequence[Chain], messages: Sequence[MessageSkeleton]) -> list[Chain]:
    """The chains, those as interrupted whose compression would drop what asked and keep the answer."""
    pairs = late_answers(messages)
    if not pairs:
        return list(chains)
    return [
        replace(chain, final=None, final_assistant_timestamp_ms=None) if _is_torn(chain, messages, pairs) else chain
        for chain in chains
    ]


def _is_torn(chain: Chain, messages: Sequence[MessageSkeleton], pairs: Sequence[tuple[int, int]]) -> bool:
    final = chain.final
    return final is not None and any(
        chain.start < asked < final and (answered >= final or messages[answered].role is not ASSISTANT)
        for asked, answered in pairs
    )
