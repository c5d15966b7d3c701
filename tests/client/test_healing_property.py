"""Whatever happens between two calls, after a prune the server has exactly what the caller has."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from condense_grpc.client import ClientOptions, RetryPolicy, errors
from condense_grpc.client.adapters import PROTOBUF
from condense_grpc.client.session_core import PruneOptions, SessionCore
from condense_grpc.client.status_details import StatusDetails
from condense_grpc.client.steps import Send, Steps, Wait
from tests.client.fake_server import LOST_ANSWER, FakeBackend, Refusal
from tests.client.messages import stub, user

OPTIONS = ClientOptions(unary_delta_bytes=60, chunk_bytes=30, retry=RetryPolicy(max_attempts=2))
WORDS = st.text("ab", min_size=1, max_size=12)
ACTIONS = st.one_of(
    st.tuples(st.just("append"), st.lists(WORDS, min_size=1, max_size=4)),
    st.tuples(st.just("rewind"), st.integers(0, 10)),
    st.tuples(st.just("replace"), st.tuples(st.integers(0, 10), WORDS)),
    st.tuples(st.just("server loses"), st.integers(0, 10)),
    st.tuples(st.just("server forgets"), st.none()),
    st.tuples(st.just("server restarts"), st.none()),
    st.tuples(st.just("other client"), st.lists(WORDS, max_size=3)),
    st.tuples(st.just("answer lost"), st.sampled_from(["PruneMessages", "AppendMessages"])),
    st.tuples(st.just("call lost"), st.sampled_from(["PruneMessages", "AppendMessages"])),
    st.tuples(st.just("revision"), st.booleans()),
)


def carry_out(steps: Steps[Any], backend: FakeBackend) -> Any:
    """Runs a conversation against the backend, without a network."""
    try:
        step = next(steps)
        while True:
            if isinstance(step, Wait):
                step = next(steps)
                continue
            assert isinstance(step, Send)
            request = list(step.request) if step.method == "AppendMessages" else step.request  # type: ignore[arg-type]
            try:
                answer = backend.handle(step.method, request)
            except Refusal as refusal:
                kind = errors.BY_REASON.get(refusal.reason, errors.Unavailable)
                details = StatusDetails(reason=refusal.reason, metadata=refusal.metadata)
                step = steps.throw(kind("refused", details=details))
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return end.value


class World:
    """A caller with its list, a session, and a server to which things happen."""

    def __init__(self) -> None:
        self.backend = FakeBackend()
        self.core = SessionCore("s1", PROTOBUF, options=OPTIONS)
        self.history: list[Any] = []

    def act(self, name: str, value: Any) -> None:
        session = self.backend.sessions.get("s1")
        match name:
            case "append":
                self.history = [*self.history, *map(user, value)]
            case "rewind":
                self.history = self.history[:value]
            case "replace" if self.history:
                self.history[value[0] % len(self.history)] = user(value[1])
            case "server loses" if session:
                session.truncate(min(value, session.length))
            case "server forgets":
                self.backend.sessions.clear()
            case "server restarts" if session:
                session.clock_ms += 1000
                session.truncate(session.length // 2)
            case "other client":
                other = SessionCore("s1", PROTOBUF, options=OPTIONS)
                self.prune(other, [user(word) for word in value])
            case "answer lost":
                self.backend.after[value].append(LOST_ANSWER)
            case "call lost":
                self.backend.before[value].append(LOST_ANSWER)
            case "revision":
                has_first = bool(self.history) and value
                self.backend.show([stub(0)] if has_first else [], f"r{len(self.backend.log)}")

    def prune(self, core: SessionCore[Any], history: list[Any]) -> Any:
        while True:
            try:
                return carry_out(core.prune(history, PruneOptions()), self.backend)
            except errors.Unavailable:
                continue  # a caller that tries again


@settings(max_examples=300, deadline=None)
@given(st.lists(ACTIONS, max_size=14))
def test_the_server_has_what_the_caller_has(actions: list[tuple[str, Any]]) -> None:
    """Appends, rewinds, edits, lost calls and answers, a server that forgets, another client."""
    world = World()
    for name, value in actions:
        world.act(name, value)
        if world.backend.edits and not world.history:
            world.backend.show([], "none")
        before = len(world.backend.log)
        view = world.prune(world.core, world.history)
        assert world.backend.sessions["s1"].sent() == world.history
        assert len(view.messages) == len(world.history)
        assert len(world.backend.log) - before <= 14
    world.backend.log.clear()
    world.prune(world.core, world.history)
    ((name, request),) = world.backend.log
    assert name == "PruneMessages" and not request.delta.messages.messages
