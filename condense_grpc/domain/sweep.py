"""Orphan sweep: a tool result that answers no open call is removed, since providers refuse it."""

import hashlib
from collections import Counter
from collections.abc import Sequence

from condense_grpc.domain.messages import Role
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.view import Diagnostic


def find_orphans(messages: Sequence[MessageSkeleton]) -> list[int]:
    """Positions of the results that no call of the latest assistant message waits for."""
    waiting: Counter[str] = Counter()
    orphans: list[int] = []
    for position, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            waiting = Counter(call.id for call in message.calls)
        elif message.role is not Role.TOOL_RESULT:
            waiting = Counter()
        elif waiting[message.tool_call_id] > 0:
            waiting[message.tool_call_id] -= 1
        else:
            orphans.append(position)
    return orphans


def orphan_diagnostic(ids: Sequence[str]) -> Diagnostic:
    """The report about removed results, by their ids."""
    ordered = sorted(ids)
    joined = ",".join(ordered).encode("utf-8", "surrogatepass")
    more = f" ... +{len(ordered) - 5} more" if len(ordered) > 5 else ""
    detail = f"swept {len(ordered)} orphan toolResult(s): {', '.join(ordered[:5])}{more}"
    key = hashlib.sha1(joined, usedforsecurity=False).hexdigest()[:16]
    return Diagnostic("orphan-sweep", key, detail)
