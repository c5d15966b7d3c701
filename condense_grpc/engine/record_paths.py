"""What records say about paths, in a session whose names for path arguments have changed since they were made."""

from collections.abc import Mapping
from dataclasses import replace

from condense_grpc.domain.arguments import paths_in
from condense_grpc.domain.batches import Record
from condense_grpc.domain.entries import AliasEntry, Entry, IndexEntry
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.engine.decisions import Commit
from condense_grpc.engine.transcript import Transcript


class RecordPaths:
    """The paths of records, according to the skeletons of their calls as they are now."""

    def __init__(self, transcript: Transcript) -> None:
        self._names = transcript.path_arguments
        self._skeletons: Mapping[int, MessageSkeleton] = transcript.every_skeleton()

    def commit(self, commit: Commit) -> Commit:
        """The commit with its records as they are now."""
        return replace(commit, entries=tuple(map(self._entry, commit.entries)))

    def _entry(self, entry: Entry) -> Entry:
        match entry:
            case IndexEntry():
                return replace(entry, records=tuple(map(self._record, entry.records)))
            case AliasEntry() if entry.record is not None:
                return replace(entry, record=self._record(entry.record))
            case _:
                return entry

    def _record(self, record: Record) -> Record:
        source = record.source
        if source is None:
            return record._replace(paths=paths_in(record.args_json or "{}", self._names))
        skeleton = self._skeletons.get(source.call_node)
        if skeleton is None:
            return record._replace(paths=())
        return record._replace(paths=skeleton.calls[source.call_ordinal].captured_paths)
