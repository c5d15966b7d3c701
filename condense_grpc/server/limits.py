"""The limits of a server, as GetCapabilities publishes them and the edge enforces them."""

from condense_grpc.domain.frozen import frozen
from condense_grpc.settings import ServerSettings

# 512 characters are at most 2048 bytes, which every database can index.
MAX_SESSION_ID_CHARS = 512
MAX_REQUEST_ID_CHARS = 256
MAX_LABELS = 64
MAX_LABEL_NAME_CHARS = 256
MAX_LABEL_VALUE_CHARS = 4096
# So many blocks of the largest size, with their texts, still fit into one answer.
MAX_QUERY_REFS = 256
MAX_QUERY_CHARS = 10_000
MAX_PAGE_SIZE = 1000
DEFAULT_PAGE_SIZE = 100
DEFAULT_SEARCH_RESULTS = 20
DEFAULT_SEARCH_LINES = 10


@frozen
class Limits:
    """The limits that an operator can set."""

    max_message_bytes: int
    max_transcript_message_bytes: int
    max_delta_bytes: int
    max_delta_messages: int
    max_stream_bytes: int

    @classmethod
    def of(cls, settings: ServerSettings) -> "Limits":
        """Those of a server's settings. What must fit into one gRPC message is never larger than that."""
        return cls(
            max_message_bytes=settings.max_message_bytes,
            max_transcript_message_bytes=min(settings.max_transcript_message_bytes, settings.max_message_bytes),
            max_delta_bytes=min(settings.max_delta_bytes, settings.max_message_bytes),
            max_delta_messages=settings.max_delta_messages,
            max_stream_bytes=settings.max_stream_bytes,
        )


def page_size(requested: int) -> int:
    """The size of a page: 0 leaves it to the server, more than the limit is the limit."""
    return min(requested, MAX_PAGE_SIZE) if requested > 0 else DEFAULT_PAGE_SIZE
