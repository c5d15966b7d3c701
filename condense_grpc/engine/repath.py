"""Other names for the arguments that hold a path, in a session that has messages already.

What a call says about paths is kept with its skeleton, and again with the record of its result. The bodies are read
once to find it anew: the skeletons are written again, and the records take over what the skeletons say.
"""

from collections.abc import Sequence

from condense_grpc.domain.arguments import captured_arguments, paths_in, tested_arguments
from condense_grpc.domain.messages import Message, calls_of
from condense_grpc.domain.skeleton import CallSkeleton, MessageSkeleton
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.codec import decode_message
from condense_grpc.engine.state import SessionState

_BATCH_NODES = 200


async def find_paths(bodies: BodyCache, state: SessionState, names: Sequence[str]) -> dict[int, MessageSkeleton]:
    """The skeletons that are other ones with these names, by node, on every branch."""
    found: dict[int, MessageSkeleton] = {}
    asked = {node: skeleton for node, skeleton in state.transcript.every_skeleton().items() if skeleton.calls}
    nodes = sorted(asked)
    for start in range(0, len(nodes), _BATCH_NODES):
        encoded = await bodies.encoded(state, nodes[start : start + _BATCH_NODES])
        for node, body in encoded.items():
            changed = _with_paths(asked[node], decode_message(body, 0), names)
            if changed != asked[node]:
                found[node] = changed
    return found


def _with_paths(skeleton: MessageSkeleton, message: Message, names: Sequence[str]) -> MessageSkeleton:
    calls: list[CallSkeleton] = []
    for call, part in zip(skeleton.calls, calls_of(message), strict=True):
        paths = paths_in(tested_arguments(part), names)
        captured = paths_in(captured_arguments(part), names) if part.extra_json else paths
        calls.append(call._replace(paths=paths, captured_paths=captured))
    return skeleton._replace(calls=tuple(calls))
