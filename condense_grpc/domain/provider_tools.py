"""Tools that the provider runs itself, where one message of the model asks for them and a later one has the answer.

So it is when the provider paused the answer of its model, or when its tool waits for results of the host. Such
messages belong together: none of them may go without the other, and nobody may speak between them.
"""

from collections.abc import Sequence
from dataclasses import replace

from condense_grpc.domain.chains import Chain
from condense_grpc.domain.skeleton import MessageSkeleton


def late_answers(messages: Sequence[MessageSkeleton]) -> list[tuple[int, int]]:
    """Positions of messages that ask, each with that of the message with the answer."""
    if not messages or messages[0].native is None:
        return []
    found: list[tuple[int, int]] = []
    asked: list[int] = []
    for position, message in enumerate(messages):
        span = message.native
        if span is not None and span.resumes:
            found += [(at, position) for at in asked]
            asked = []
        if span is not None and span.awaits:
            asked.append(position)
    return found


def without_torn(chains: Sequence[Chain], messages: Sequence[MessageSkeleton]) -> list[Chain]:
    """The chains, those as interrupted whose compression would drop a call of such a tool and keep its answer."""
    pairs = late_answers(messages)
    return [_interrupted(chain) if _is_torn(chain, pairs) else chain for chain in chains] if pairs else list(chains)


def _is_torn(chain: Chain, pairs: Sequence[tuple[int, int]]) -> bool:
    return chain.final is not None and any(chain.start < asked < chain.final <= answered for asked, answered in pairs)


def _interrupted(chain: Chain) -> Chain:
    return replace(chain, final=None, final_assistant_timestamp_ms=None)
