"""Error purge: long arguments of calls that failed are replaced some assistant messages later.

Each call is judged by its own result, as that was before it became a stub. The replacement is an object that no tool
would accept, so that a model cannot mistake it for a real value.
"""

from collections.abc import Callable, Sequence

from condense_grpc.domain.arguments import purged_arguments
from condense_grpc.domain.config import PurgeErrorsConfig
from condense_grpc.domain.messages import ASSISTANT
from condense_grpc.domain.pairing import Pairs
from condense_grpc.domain.skeleton import MessageSkeleton


def find_purges(
    messages: Sequence[MessageSkeleton], pairs: Pairs, config: PurgeErrorsConfig
) -> dict[int, dict[int, str]]:
    """Per assistant position: call ordinal -> new arguments. Empty when nothing is due or the rule is off."""
    if not config.enabled:
        return {}
    assistants = [position for position, message in enumerate(messages) if message.role is ASSISTANT]
    due = len(assistants) - config.cooldown_turns
    purges: dict[int, dict[int, str]] = {}
    for position in assistants[: max(due, 0)]:

        def has_failed(ordinal: int, position: int = position) -> bool:
            result = pairs.result_of.get((position, ordinal))
            return result is not None and messages[result].is_error

        purged = purges_of(messages[position], has_failed, config)
        if purged:
            purges[position] = purged
    return purges


def purges_of(message: MessageSkeleton, has_failed: Callable[[int], bool], config: PurgeErrorsConfig) -> dict[int, str]:
    """New arguments by call ordinal, for one assistant message that is due. `has_failed`: whether the result did."""
    return {
        ordinal: purged_arguments(call.args_chars)
        for ordinal, call in enumerate(message.calls)
        if call.args_chars is not None
        and call.args_chars >= config.min_arg_chars
        and not call.is_purged
        and has_failed(ordinal)
    }
