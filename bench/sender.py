"""A client without memory: it sends its whole history of 10 MB every time, and wants the whole view back.

    python -m bench.sender ADDRESS

does so for ever and says a word after each time, so that others can be measured beside it.
"""

import sys
from itertools import count

from bench.ground import BenchSession, Ground
from bench.histories import Shape, history, turn
from condense_grpc.api.condense.v1.message_pb2 import Message
from condense_grpc.api.condense.v1.view_pb2 import VIEW_FULL, PruneMessagesRequest

SENT_MESSAGES = 5000


class StatelessSender:
    """Sends its whole history every time, as a client without memory does."""

    def __init__(self, session: BenchSession) -> None:
        self._session = session
        self._numbers = count(1)
        self._history: list[Message] = list(history(SENT_MESSAGES, Shape.of(SENT_MESSAGES, 10_000_000)))

    def next_request(self) -> PruneMessagesRequest:
        """Everything and one more turn."""
        self._history += turn(next(self._numbers))
        self._session.length, self._session.etag = 0, ""
        return self._session.turn_request(self._history, VIEW_FULL)


def send_for_ever(address: str) -> None:
    """What the other client does, in a process of its own. Says a word after each send."""
    ground = Ground.at(address)
    sender = StatelessSender(BenchSession(ground, "bench-large"))
    while True:
        ground.condense.PruneMessages(sender.next_request())
        print("sent", flush=True)


if __name__ == "__main__":
    send_for_ever(sys.argv[1])
