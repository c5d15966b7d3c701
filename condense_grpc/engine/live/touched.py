"""What a decision touches: the results that may look different because of it."""

from collections.abc import Iterable, Sequence

from condense_grpc.domain.batches import Record
from condense_grpc.domain.entries import (
    AliasEntry,
    CarriedEntry,
    ChainEntry,
    DiagnosticEntry,
    Entry,
    FlushMetricsEntry,
    FrontierEntry,
    IndexEntry,
    PinEntry,
    SkipEntry,
    StatsEntry,
    SummaryEntry,
)
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.occurrence import occurrence_key

_REPORTS = (CarriedEntry, DiagnosticEntry, FlushMetricsEntry, FrontierEntry, StatsEntry)


@frozen
class Touched:
    """The effect of one entry. `keys`: of results; those of duplicates of them count too.

    `must_be_there`: a key that no result has may be a name for others. `is_everything`: nobody knows.
    """

    keys: Sequence[str] = ()
    must_be_there: bool = False
    summarized: Sequence[str] = ()
    aliases: Sequence[tuple[str, str]] = ()
    is_summary: bool = False
    has_chain: bool = False
    is_everything: bool = False


def touched_by(entry: Entry, index: SessionIndex) -> Touched:
    """What an entry that the index has taken in touches."""
    match entry:
        case SummaryEntry():
            keys = [ref.key for ref in entry.details.refs]
            return Touched(keys, summarized=keys if entry.text else (), is_summary=bool(entry.text))
        case IndexEntry():
            keys = [record.key for record in entry.records] + [ref.key for ref in entry.refs or ()]
            return Touched(keys, is_everything=_has_bare(entry.records, index))
        case AliasEntry():
            records = () if entry.record is None else (entry.record,)
            pair = (entry.original_key, entry.new_key)
            return Touched([entry.new_key], aliases=(pair,), is_everything=_has_bare(records, index))
        case SkipEntry():
            calls = entry.calls
            return Touched([occurrence_key(one.tool_call_id, one.result_timestamp_ms, one.occurrence) for one in calls])
        case PinEntry():
            return Touched(entry.keys, must_be_there=True)
        case ChainEntry():
            return Touched(has_chain=True)
        case _:
            return Touched(is_everything=not isinstance(entry, _REPORTS))


_NOTHING = Touched()
_CHAIN = Touched(has_chain=True)


def seen_first(entry: Entry) -> Touched:
    """The same for a first reading, after which every turn is looked at: only what must be remembered of an entry."""
    match entry:
        case SummaryEntry():
            return Touched(is_summary=bool(entry.text))
        case AliasEntry():
            return Touched(aliases=((entry.original_key, entry.new_key),))
        case ChainEntry():
            return _CHAIN
        case _:
            return _NOTHING


def _has_bare(records: Iterable[Record], index: SessionIndex) -> bool:
    """Whether an id alone names a record of these, or did: then results with that id may look different."""
    return any(index.is_summarized(record.tool_call_id) for record in records)
