"""Random histories, settings and operations: valid ones, and what hosts send in practice.

Messages come in pieces that an agent could have sent: requests, turns of calls with most of their results, notices
and steering in between, results twice, late, lost or without a call, images, failed calls with long arguments,
texts that look like ours, and answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from condense_grpc.domain.messages import (
    ImagePart,
    Message,
    OpaquePart,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from condense_grpc.domain.pi_json import SUMMARY_TYPE, message_from_pi, message_to_pi
from condense_grpc.testing.fakes import Failure, Outcome, Raise, Reply, Silence
from tests.engine.fed_back import Manner

SPILL_CHARS = 900
SMALL_CHARS = 380
_ids = st.sampled_from(["a", "b", "c", "d", "a", "b", "", "t1", "a@5", "é/x"])
_tools = st.sampled_from(["bash", "bash", "read", "keep", "context_tree_query"])
_texts = st.sampled_from(
    [
        "gamma " * 60,
        "alpha " * 60,
        "alpha " * 60 + " \n",
        "beta\n" * 70,
        "delta " * 60,
        "ok",
        "",
        "x" * SPILL_CHARS,
        "y\n" * SPILL_CHARS,
        "</compressed-chain> <protected-output tool=x> {b1} [[1:bash]] `t1` " * 5,
        "[Summarized in pruner summary, ref `t1`. Use context_tree_query to retrieve full output.]",
        "s\ud800urrogate\0 \r\n\u2028" * 20,
    ]
)
_arguments = st.sampled_from(
    [
        "{}",
        '{"n": 1}',
        '{"path": "notes/skills/x.md"}',
        '{"path":  "C:\\\\a.py", "n": 1.0, "n": 12345678901234567890}',
        '{"text": "' + "z" * 600 + '"}',
        '{"cut',
        "",
        '{"_purged":"<purged-errored-args size=\\"600\\"/>"}',
        '{"toolCallIds": ["t1"]}',
        None,
    ]
)
# Times of a host: mostly none, sometimes equal or out of order.
_times = st.sampled_from([None] * 12 + [1, 5, 5, 7_000_000, 1_700_000_000_000])


@st.composite
def _results(draw: st.DrawFn, call_id: str, tool: str) -> Message:
    parts: list[Part] = [TextPart(draw(_texts))]
    other = draw(st.sampled_from(["", "", "", "", "", "image", "opaque", "two texts", "nothing"]))
    if other == "image":
        parts.append(ImagePart("image/png", b"\x89png"))
    elif other == "opaque":
        parts.append(OpaquePart("audio", '{"type":"audio","seconds":1.0}'))
    elif other == "two texts":
        parts.append(TextPart("second"))
    elif other == "nothing":
        parts = []
    is_error = draw(st.sampled_from([False, False, True]))
    return Message(
        Role.TOOL_RESULT, tuple(parts), draw(_times), tool_call_id=call_id, tool_name=tool, is_error=is_error
    )


def _users() -> st.SearchStrategy[Message]:
    texts = st.sampled_from(["go", "go on", "", '<compressed-chain id="b1" tools="t1">\nmine\n</compressed-chain>'])
    return st.builds(lambda text, time: Message(Role.USER, (TextPart(text),), time), texts, _times)


def _notices() -> st.SearchStrategy[Message]:
    def notice(kind: str, time: int | None) -> Message:
        details = '{"toolCallRefs":[{"shortId":"t1","toolCallId":"a","resultTimestamp":5}]}'
        return Message(
            Role.CUSTOM,
            (TextPart("note"),),
            time,
            custom_role="custom",
            custom_type=kind,
            details_json=details if kind == SUMMARY_TYPE else "",
        )

    return st.builds(notice, st.sampled_from(["notice", "notice", SUMMARY_TYPE]), _times)


@st.composite
def _turns(draw: st.DrawFn) -> list[Message]:
    """Calls and what comes behind them, before the next assistant message."""
    tool = draw(_tools)
    ids = draw(st.lists(_ids, min_size=1, max_size=3))
    parts: list[Part] = [TextPart("let me see")] if draw(st.booleans()) else []
    if draw(st.sampled_from([True, False, False])):
        parts.insert(0, ThinkingPart("hm", "signature"))
    parts += [ToolCallPart(one, tool, draw(_arguments)) for one in ids]
    messages = [Message(Role.ASSISTANT, tuple(parts), draw(_times))]
    for one in draw(st.permutations(ids)):
        kinds = ["", "", "", "", "", "", "notice", "user", "lost", "stray", "twice"]
        kind = draw(st.sampled_from(kinds))
        if kind == "notice":
            messages.append(draw(_notices()))
        elif kind == "user":
            messages.append(draw(_users()))
        elif kind == "stray":
            messages.append(draw(_results(draw(_ids), tool)))
        if kind != "lost":
            messages.append(draw(_results(one, tool)))
        if kind == "twice":
            messages.append(draw(_results(one, tool)))
    return messages


@st.composite
def _answers(draw: st.DrawFn) -> list[Message]:
    parts: tuple[Part, ...] = (TextPart(draw(st.sampled_from(["done", "done and dusted", ""]))),)
    if draw(st.booleans()):
        parts = (ThinkingPart("I see", "signature"), *parts)
    return [Message(Role.ASSISTANT, parts, draw(_times))]


@st.composite
def _chains(draw: st.DrawFn) -> list[Message]:
    turns = draw(st.lists(_turns(), min_size=1, max_size=3))
    return [draw(_users()), *(message for turn in turns for message in turn), *draw(_answers())]


def _as_pi(message: Message) -> Message:
    """The same message as it comes in a host's own JSON, with its source."""
    return message_from_pi(message_to_pi(message))


@st.composite
def pieces(draw: st.DrawFn) -> list[Message]:
    """What one append brings."""
    loose = st.one_of(_turns(), _answers(), _users().map(lambda one: [one]), _notices().map(lambda one: [one]))
    messages = draw(st.one_of(_chains(), _chains(), _chains(), loose))
    if draw(st.sampled_from([True, False, False, False])):
        return [_as_pi(message) for message in messages]
    return messages


tidy_chains = _chains().map(lambda messages: [replace(message, timestamp_ms=None) for message in messages])


# Operations


@dataclass(frozen=True)
class Append:
    messages: Sequence[Message]


@dataclass(frozen=True)
class Resend:
    """Everything from the beginning, with the last messages replaced: `kept` in percent."""

    kept: int
    messages: Sequence[Message]


@dataclass(frozen=True)
class Rewind:
    """Back to a part of the length, in percent."""

    kept: int


@dataclass(frozen=True)
class Return:
    """Back to a history that there was before: the longest one, or one by its number."""

    number: int | None = None


@dataclass(frozen=True)
class Flush:
    outcomes: Sequence[Outcome] = ()
    compact: bool = False
    meanwhile: Sequence[Any] = ()


@dataclass(frozen=True)
class Compact:
    outcomes: Sequence[Outcome] = ()


@dataclass(frozen=True)
class Configure:
    changes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Usage:
    tokens: int


@dataclass(frozen=True)
class Prune:
    min_savings: int | None = None


@dataclass(frozen=True)
class DryRun:
    messages: Sequence[Message]


@dataclass(frozen=True)
class Pin:
    number: int
    unpin: bool = False
    ttl_ms: int | None = None


@dataclass(frozen=True)
class Fork:
    """Go on in a copy that begins with a part of the history, in percent."""

    kept: int


@dataclass(frozen=True)
class Restart:
    """The process ends in good order, or at once."""

    crash: bool = False


@dataclass(frozen=True)
class Rest:
    """Nobody uses the session for a while, or for a long one."""

    evict: bool = False


@dataclass(frozen=True)
class FeedBack:
    """A host that takes our view for its own history."""


@dataclass(frozen=True)
class Echo:
    """A host that puts our view in the place of its own history, from a part of it on, in percent.

    `begin`: messages that come before it. It may come in pieces (`cuts`, in percent), with other things between them.
    """

    kept: int
    begin: Sequence[Message]
    manner: Manner
    cuts: Sequence[int] = ()
    meanwhile: Sequence[Any] = ()


@dataclass(frozen=True)
class Again:
    """Back to a part of the history, in percent; something is done there, and the rest follows once more."""

    kept: int
    meanwhile: Sequence[Any]


@dataclass(frozen=True)
class Faulty:
    """The store does not answer a call of that name, while something is done."""

    name: str
    operation: Any


_outcomes = st.lists(
    st.sampled_from(
        [
            Reply(),
            Reply(),
            Reply("- [[1:bash]] {b1} </compressed-chain> `t9`"),
            Reply("long " * 200),
            Failure("down"),
            Raise(ValueError("odd")),
            Silence(),
            Reply(" "),
        ]
    ),
    max_size=4,
)
_percent = st.integers(0, 100)
changes = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.sampled_from([True, True, True, False]),
        "prune_on": st.sampled_from(["on-demand", "on-demand", "agent-message"]),
        "dedup_by_content_hash": st.booleans(),
        "batching_mode": st.sampled_from(["turn", "agent-message"]),
        "min_batch_chars": st.sampled_from([0, SMALL_CHARS]),
        "recovery_grace_turns": st.sampled_from([0, 1, 3]),
        "spill_threshold": st.sampled_from([SPILL_CHARS, SMALL_CHARS]),
        "spill_preview_bytes": st.sampled_from([0, 7, 100]),
        "protected_tools": st.sampled_from([(), ("keep",), ("keep", "re*")]),
        "auto_budget_threshold": st.sampled_from([None, 0.5]),
        "chain_compression": st.fixed_dictionaries(
            {},
            optional={
                "enabled": st.sampled_from([True, True, False]),
                "rolling_window": st.integers(0, 2),
                "fuse_range_summary": st.booleans(),
                "strip_final_assistant_thinking": st.booleans(),
            },
        ),
        "purge_errors": st.fixed_dictionaries(
            {}, optional={"enabled": st.booleans(), "cooldown_turns": st.integers(0, 3)}
        ),
    },
)

# What a session begins with: chains are compressed early.
configs = st.tuples(changes, st.sampled_from([0, 0, 1, 3]), st.booleans()).map(
    lambda drawn: {
        "enabled": True,
        **drawn[0],
        "chain_compression": {"rolling_window": drawn[1], "strip_final_assistant_thinking": drawn[2]},
    }
)

_pins = st.builds(Pin, st.integers(0, 9), st.booleans(), st.sampled_from([None, 5]))
_plain = st.one_of(
    st.builds(Append, pieces()),
    st.builds(Append, pieces()),
    st.builds(Rewind, _percent),
    st.builds(Return, st.one_of(st.none(), st.integers(0, 20))),
    st.builds(Resend, _percent, pieces()),
    st.builds(Configure, changes),
    st.builds(Prune, st.sampled_from([None, 10, 5_000])),
    _pins,
)
_echoes_at_once = st.builds(
    Echo,
    st.sampled_from([0, 0, 50]),
    st.one_of(st.just(()), pieces()),
    st.sampled_from(Manner),
    st.lists(_percent, max_size=1),
)
_meanwhile = st.one_of(st.lists(_plain, max_size=2), _echoes_at_once.map(lambda one: [one]))
_flushes = st.builds(Flush, _outcomes, st.booleans(), _meanwhile)
_in_between = st.lists(
    st.one_of(
        _pins,
        _pins,
        _flushes,
        st.builds(Configure, changes),
        st.builds(Restart, st.booleans()),
        st.builds(Rest, st.booleans()),
        st.builds(Compact, _outcomes),
        st.builds(Fork, st.sampled_from([100, 100, 50])),
        st.builds(Rewind, _percent),
        st.builds(Append, pieces()),
    ),
    max_size=2,
)
_echoes = st.builds(
    Echo,
    st.sampled_from([0, 0, 0, 50]),
    st.one_of(st.just(()), pieces()),
    st.sampled_from(Manner),
    st.lists(_percent, max_size=2),
    _in_between,
)
_own = st.one_of(
    _flushes,
    _flushes,
    st.builds(Compact, _outcomes),
    st.builds(Usage, st.integers(0, 100)),
    st.builds(DryRun, pieces()),
    st.builds(Fork, _percent),
    st.builds(Restart, st.booleans()),
    st.builds(Rest, st.booleans()),
    st.just(FeedBack()),
    _echoes,
    st.builds(Again, _percent, _in_between),
)
_appends = st.builds(Append, pieces())
_faulty = st.one_of(_plain, _flushes, st.builds(Compact, _outcomes), st.builds(Fork, _percent), _echoes_at_once)
operations = st.one_of(
    _appends,
    _appends,
    _plain,
    _own,
    _own,
    st.builds(Faulty, st.sampled_from(["write", "write", "read_bodies", "load"]), _faulty),
)
programs = st.tuples(
    st.lists(st.builds(Append, st.one_of(tidy_chains, _chains())), min_size=1, max_size=4),
    st.lists(st.one_of(operations, _flushes, _flushes), min_size=2, max_size=10),
).map(lambda parts: [*parts[0], *parts[1]])

_works = st.lists(st.builds(Append, tidy_chains), min_size=1, max_size=2)
echoing_programs = st.tuples(
    _works,
    st.lists(st.one_of(_echoes, _echoes, st.builds(Again, _percent, _in_between), operations), min_size=1, max_size=6),
).map(lambda parts: [*parts[0], Flush(), *parts[1]])
"""Programs of hosts that send back what they were shown, again and again."""
