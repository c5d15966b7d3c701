"""Messages and decisions drawn at random: as agents and engines make them, and as no engine would."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from condense_grpc.domain.batches import Record, Ref, SummaryDetails
from condense_grpc.domain.entries import (
    AliasEntry,
    ChainEntry,
    Entry,
    IndexEntry,
    PinEntry,
    SkipEntry,
    SkippedCall,
    SkipReason,
    SummaryEntry,
)
from condense_grpc.domain.messages import ImagePart, Message, Role, TextPart, ThinkingPart, ToolCallPart
from condense_grpc.engine.state import SessionState

Draw = Callable[[Any], Any]

IDS = st.sampled_from(["a", "b", "c", ""])
TOOLS = st.sampled_from(["bash", "bash", "keep", "context_tree_query"])
TIMES = st.none() | st.none() | st.none() | st.integers(1, 6)
TEXTS = st.sampled_from(["", "out", "y" * 30, "word " * 20, "z" * 300, "漢字" * 20])
ARGUMENTS = st.sampled_from(["{}", '{"path":"x.md"}', '{"code":"' + "x" * 60 + '"}', "not json " * 8])
BLOCK = '<compressed-chain id="b1" tools="">\nx\n</compressed-chain>'


class Messages:
    """Messages of all kinds. `block_texts`: blocks that the session shows, which a client may send back."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.block_texts: Sequence[str] = ()

    def any(self) -> Message:
        """One message."""
        kinds = ("user", "answer", "calls", "result", "result", "notice", "summary", "block")
        time = self.draw(TIMES)
        match self.draw(st.sampled_from(kinds)):
            case "user":
                return self.user(time)
            case "answer":
                return self.answer(time)
            case "calls":
                return self.calls(self.draw(st.lists(IDS, min_size=1, max_size=3)), time)
            case "result":
                return self.result(self.draw(IDS), time)
            case "notice":
                return Message(Role.CUSTOM, (TextPart("note"),), time, custom_role="custom", custom_type="notice")
            case "summary":
                return self.summary(time)
            case _:
                text = self.draw(st.sampled_from(self.block_texts or [BLOCK]))
                return Message(Role.USER, (TextPart(text),), time)

    def user(self, time: int | None) -> Message:
        return Message(Role.USER, (TextPart("go"),), time)

    def answer(self, time: int | None) -> Message:
        thought = (ThinkingPart("hm"),) if self.draw(st.booleans()) else ()
        return Message(Role.ASSISTANT, (*thought, TextPart("done")), time)

    def calls(self, ids: list[str], time: int | None) -> Message:
        tool, arguments = self.draw(TOOLS), self.draw(ARGUMENTS)
        thought = (ThinkingPart("hm " * 9),) if self.draw(st.booleans()) else ()
        return Message(Role.ASSISTANT, (*thought, *(ToolCallPart(one, tool, arguments) for one in ids)), time)

    def result(self, tool_call_id: str, time: int | None, tool: str | None = None) -> Message:
        image = (ImagePart("image/png", b"1"),) if self.draw(st.integers(0, 5)) == 0 else ()
        return Message(
            Role.TOOL_RESULT,
            (TextPart(self.draw(TEXTS)), *image),
            time,
            tool_call_id=tool_call_id,
            tool_name=tool or self.draw(TOOLS),
            is_error=self.draw(st.sampled_from([False, False, True])),
        )

    def summary(self, time: int | None) -> Message:
        """A summary as a client may send it back."""
        details = self.draw(st.sampled_from(["", '{"toolCallRefs":[{"shortId":"t1","toolCallId":"a"}]}']))
        return Message(
            Role.CUSTOM,
            (TextPart("said"),),
            time,
            custom_role="custom",
            custom_type="context-prune-summary",
            details_json=details,
        )

    def chain(self) -> list[Message]:
        """A chain as agents make it, now and then with something in between."""
        messages = [self.user(self.draw(TIMES))]
        for _ in range(self.draw(st.integers(1, 3))):
            ids = self.draw(st.lists(IDS, min_size=1, max_size=2))
            asked = self.calls(ids, self.draw(TIMES))
            messages.append(asked)
            tool = next(part.name for part in asked.parts if isinstance(part, ToolCallPart))
            for one in ids:
                messages += [self.any()] if self.draw(st.integers(0, 5)) == 0 else []
                messages.append(self.result(one, self.draw(TIMES), tool))
        return [*messages, self.answer(self.draw(TIMES))]


class Decisions:
    """Entries about what is there and what is not, as an import may bring them."""

    def __init__(self, draw: Draw, state: SessionState) -> None:
        self._draw = draw
        self._transcript = state.transcript
        skeletons = state.transcript.skeletons
        self._results = [at for at, one in enumerate(skeletons) if one.role is Role.TOOL_RESULT]
        self._users = [at for at, one in enumerate(skeletons) if one.role is Role.USER]
        self._finals = [at for at, one in enumerate(skeletons) if one.is_text_only_assistant]

    def any(self) -> Entry | None:
        """One entry; None if there is nothing to decide about."""
        kinds = ["index", "refs", "summary", "alias", "skip", "pin"] if self._results else []
        kinds += ["chain"] * 3 if self._users and self._finals else []
        if not kinds:
            return None
        kind = self._draw(st.sampled_from(kinds))
        return self._chain() if kind == "chain" else self._of_result(kind)

    def _of_result(self, kind: str) -> Entry:
        at = self._draw(st.sampled_from(self._results))
        is_bare = self._draw(st.integers(0, 4)) == 0
        skeleton = self._transcript.skeletons[at]
        time = None if is_bare else skeleton.timestamp_ms
        number = None if is_bare else self._transcript.numbers[at]
        tool = self._draw(TOOLS)
        record = Record(skeleton.tool_call_id, tool, False, 0, 1, time, number, text="t", args_json="{}")
        ref = Ref(f"t{self._draw(st.integers(1, 9))}", skeleton.tool_call_id, time, number)
        match kind:
            case "index":
                if self._draw(st.booleans()):
                    record = record._replace(spilled=True, spill_bytes=9, result_preview="p")
                return IndexEntry((record,), (ref,) if self._draw(st.booleans()) else None)
            case "refs":
                return IndexEntry((), (ref,), backfilled=True)
            case "summary":
                return SummaryEntry(
                    self._draw(st.sampled_from(["", "told", "more", "概要"])), SummaryDetails((ref,)), 1
                )
            case "alias":
                other = self._transcript.keys[self._draw(st.sampled_from(self._results))]
                return AliasEntry(record.key, other, record if self._draw(st.booleans()) else None)
            case "skip":
                return SkipEntry(SkipReason.TRIVIAL, (SkippedCall(skeleton.tool_call_id, time, number),))
            case _:
                return PinEntry((record.key,), None, self._draw(st.booleans()))

    def _chain(self) -> Entry:
        """A compressed chain, by digests or by times; most of them as wide as a chain is."""
        transcript = self._transcript
        start = self._draw(st.sampled_from(self._users))
        final = next((at for at in self._finals if at > start), self._finals[-1])
        if self._draw(st.integers(0, 3)) == 0:
            final = self._draw(st.sampled_from(self._finals))
        inside = [at for at in self._results if start < at < final]
        ids = tuple(dict.fromkeys(transcript.skeletons[at].tool_call_id for at in inside))
        has_digests = self._draw(st.booleans())
        return ChainEntry(
            block_id=f"b{self._draw(st.integers(1, 4))}",
            start_user_timestamp_ms=transcript.skeletons[start].timestamp_ms or 0,
            dropped_tool_call_ids=ids[: self._draw(st.integers(0, 9))],
            final_assistant_timestamp_ms=transcript.skeletons[final].timestamp_ms,
            compressed_at_ms=3,
            range_summary_text=self._draw(st.sampled_from([None, None, "text", "see {b1}{b2}"])),
            protected_tool_call_ids=ids if self._draw(st.booleans()) else (),
            dropped_occurrence_keys=tuple(transcript.keys[at] for at in inside),
            start_digest=transcript.digests[start].hex() if has_digests else "",
            final_digest=transcript.digests[final].hex() if has_digests else "",
        )
