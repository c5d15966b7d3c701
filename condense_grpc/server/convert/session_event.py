"""What can be watched of a session, towards the wire."""

from condense_grpc.api.condense.v1 import session_event_pb2 as pb
from condense_grpc.engine.events import NumberedEvent
from condense_grpc.engine.feed import Deleted, Gap, RevisionChanged, SessionEvent, StatsChanged
from condense_grpc.engine.ports import StoredDiagnostic
from condense_grpc.server.convert.diagnostics import write_entry
from condense_grpc.server.convert.flush_event import write_event
from condense_grpc.server.convert.stats import write_stats
from condense_grpc.server.convert.times import write_time


def write_session_event(watched: SessionEvent, target: pb.SessionEvent) -> None:
    """Write one event."""
    target.cursor = watched.cursor
    write_time(watched.time_ms, target.event_time)
    match watched.event:
        case NumberedEvent() as numbered:
            write_event(numbered, target.flush)
        case StoredDiagnostic() as diagnostic:
            write_entry(diagnostic, target.diagnostic)
        case StatsChanged() as changed:
            write_stats(changed.stats, target.stats, changed.since_load)
        case RevisionChanged() as revision:
            target.revision.revision = revision.revision
            target.revision.transcript_length = revision.length
            target.revision.transcript_etag = revision.etag
        case Gap(missed):
            target.gap.SetInParent()
            if missed is not None:
                target.gap.missed_events = missed
        case Deleted():
            target.deleted.SetInParent()
