"""Prunes and appends: their requests and their answers."""

from collections.abc import Iterable, Sequence

from condense_grpc.api.condense.v1 import message_pb2, transcript_pb2, view_pb2
from condense_grpc.domain.edits import Edit
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message
from condense_grpc.engine.edit_list import EditList, EditPiece
from condense_grpc.engine.requests import AsSent, CacheReport, PruneRequest, PruneResult, Reclaim, ViewKind
from condense_grpc.errors import NotImplementedYet, RequestInvalid
from condense_grpc.server.convert.advice import write_advice, write_violation
from condense_grpc.server.convert.delta import Change, DeltaReader
from condense_grpc.server.convert.edit import write_edit
from condense_grpc.server.convert.enums import TOKEN_BASIS, VIEW
from condense_grpc.server.convert.message import write_message
from condense_grpc.server.convert.native import write_native_edit
from condense_grpc.server.convert.sent_messages import SentMessages
from condense_grpc.server.convert.session_id import known_session_id, new_session_id
from condense_grpc.server.convert.usage import read_usage
from condense_grpc.server.convert.view_messages import written_messages
from condense_grpc.server.convert.wire_text import wire_text

_FEW_EDITS = 64


@frozen
class Prune:
    """A request to prune, and the messages that were sent with it."""

    request: PruneRequest
    sent: Sequence[message_pb2.Message] = ()


@frozen
class PruneReader:
    """Reads PruneMessages requests. Safe to use from any thread."""

    deltas: DeltaReader

    def read_cut(self, data: bytes) -> Prune | None:
        """The same as `read` for the bytes of a large request, if its messages can be cut out of it."""
        return self.deltas.read_cut(view_pb2.PruneMessagesRequest, data, self.read)

    def read(
        self, message: view_pb2.PruneMessagesRequest, request_bytes: int, sent: SentMessages | None = None
    ) -> Prune:
        """The request; `sent`: its messages, if they were cut out of it. Raises what is wrong with it."""
        may_create = message.HasField("delta")
        session_id = new_session_id(message.session_id) if may_create else known_session_id(message.session_id)
        view = VIEW.read(message.view)
        if view is None:
            raise NotImplementedYet(f"view {message.view}")
        min_savings_chars = message.min_savings_chars if message.HasField("min_savings_chars") else None
        if min_savings_chars is not None and min_savings_chars < 0:
            raise RequestInvalid("min_savings_chars", f"must not be negative, not {min_savings_chars}")
        change, delta = Change(), message.delta
        if may_create:
            change = self.deltas.read(delta, message.config, request_bytes, session_id, sent=sent)
        request = PruneRequest(
            session_id=session_id,
            delta=change.delta,
            view=view,
            known_revision=message.known_revision,
            dry_run=message.dry_run,
            min_savings_chars=min_savings_chars,
            usage=read_usage(message.usage) if message.HasField("usage") else None,
            names_sent=True,
            create=change.create,
        )
        return Prune(request, delta.messages.messages if sent is None else sent)


def append_request(session_id: str, change: Change) -> PruneRequest:
    """A delta alone as a prune that shows nothing: it answers with revision and advice."""
    return PruneRequest(session_id=session_id, delta=change.delta, create=change.create, view=ViewKind.NONE)


def write_prune(result: PruneResult, sent: Sequence[message_pb2.Message]) -> bytes:
    """The answer to a prune. `sent` are the messages of its delta: those of the view that are among them are copied."""
    answer = view_pb2.PruneMessagesResponse(
        transcript_length=result.length,
        transcript_etag=result.etag,
        revision=result.revision,
        unchanged=result.unchanged,
        pruned=result.pruned,
        created=result.created,
        status_line=wire_text(result.status_line),
    )
    if result.native is not None:
        answer.native_json = result.native.json.encode()
        for native_edit in result.native.edits:
            write_native_edit(native_edit, answer.edits.add())
    pieces: list[bytes] = []
    if isinstance(sent, SentMessages):
        pieces += written_messages(result.messages or (), sent)
    else:
        _write_messages(result.messages or (), sent, answer)
    for violation in result.violations:
        write_violation(violation, answer.violations.add())
    write_reclaim(result.reclaim, answer.reclaim)
    if result.cache is not None:
        _write_cache(result.cache, answer.cache)
    _write_applied(result, answer.applied)
    write_advice(result.advice, answer.advice)
    if result.native is None:
        pieces += _written_edits(result.edits)
    # Messages behind each other are one message with the lists of all of them.
    return b"".join([answer.SerializeToString(), *pieces])


def _write_messages(
    messages: Iterable[Message | AsSent],
    sent: Sequence[message_pb2.Message],
    answer: view_pb2.PruneMessagesResponse,
) -> None:
    for message in messages:
        if isinstance(message, AsSent):
            for index, time_ms in enumerate(message.times_ms, message.index):
                target = answer.messages.add()
                target.CopyFrom(sent[index])
                target.timestamp_ms = time_ms
        else:
            write_message(message, answer.messages.add())


def _written_edits(edits: EditList) -> Iterable[bytes]:
    """Edits as the answer has them. Few are written as one; many piece by piece, each of which is kept."""
    return map(_written, edits.pieces) if len(edits) > _FEW_EDITS else (_as_answer(edits),)


def _written(piece: EditPiece) -> bytes:
    if not piece.written:
        piece.written = _as_answer(piece.edits)
    return piece.written


def _as_answer(edits: Iterable[Edit]) -> bytes:
    part = view_pb2.PruneMessagesResponse()
    for edit in edits:
        write_edit(edit, part.edits.add())
    return part.SerializeToString()


def write_append(result: PruneResult) -> transcript_pb2.AppendMessagesResponse:
    """The answer to an append."""
    answer = transcript_pb2.AppendMessagesResponse(
        transcript_length=result.length,
        transcript_etag=result.etag,
        revision=result.revision,
        created=result.created,
    )
    for violation in result.violations:
        write_violation(violation, answer.violations.add())
    write_advice(result.advice, answer.advice)
    return answer


def write_reclaim(reclaim: Reclaim, target: view_pb2.Reclaim) -> None:
    """Write sizes before and after."""
    target.SetInParent()
    target.before_chars = reclaim.before_chars
    target.after_chars = reclaim.after_chars
    target.before_tokens = reclaim.before_tokens
    target.after_tokens = reclaim.after_tokens
    target.token_basis = TOKEN_BASIS.write(reclaim.basis)


def _write_cache(cache: CacheReport, target: view_pb2.CacheReport) -> None:
    target.first_changed_index = cache.first_changed_index
    target.unchanged_prefix_chars = cache.unchanged_prefix_chars
    target.breaks_cache = cache.breaks_cache


def _write_applied(result: PruneResult, target: view_pb2.AppliedCounts) -> None:
    applied = result.applied
    target.spilled_results = applied.spilled_stubs
    target.duplicate_results = applied.duplicate_stubs
    target.summarized_results = applied.stubs - applied.spilled_stubs - applied.duplicate_stubs
    target.purged_arguments = applied.purged_arguments
    target.dropped_messages = applied.dropped_messages
    target.swept_results = applied.swept_orphans
    target.stripped_messages = applied.stripped_thinking
    target.inserted_summaries = applied.summaries
    target.inserted_chains = applied.compressed_chains
    target.moved_messages = applied.moved_messages
