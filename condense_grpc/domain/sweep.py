"""Orphan sweep: a tool result that answers no open call is removed, since providers refuse it."""

import hashlib
from collections.abc import Sequence

from condense_grpc.domain.messages import ASSISTANT, TOOL_RESULT
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.view import Diagnostic


def find_orphans(messages: Sequence[MessageSkeleton]) -> list[int]:
    """Positions of the results that no call of the latest assistant message waits for."""
    waiting: dict[str, int] = {}
    orphans: list[int] = []
    for position, message in enumerate(messages):
        role = message.role
        if role is TOOL_RESULT:
            left = waiting.get(message.tool_call_id, 0)
            if left:
                waiting[message.tool_call_id] = left - 1
            else:
                orphans.append(position)
        else:
            waiting = {}
            if role is ASSISTANT:
                for call in message.calls:
                    waiting[call.id] = waiting.get(call.id, 0) + 1
    return orphans


def orphan_diagnostic(ids: Sequence[str]) -> Diagnostic:
    """The report about removed results, by their ids."""
    ordered = sorted(ids)
    joined = ",".join(ordered).encode("utf-8", "surrogatepass")
    more = f" ... +{len(ordered) - 5} more" if len(ordered) > 5 else ""
    detail = f"swept {len(ordered)} orphan toolResult(s): {', '.join(ordered[:5])}{more}"
    key = hashlib.sha1(joined, usedforsecurity=False).hexdigest()[:16]
    return Diagnostic("orphan-sweep", key, detail)
