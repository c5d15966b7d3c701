"""Searches: their requests and what they have found."""

from condense_grpc.api.condense.v1 import query_pb2 as pb
from condense_grpc.engine.requests import SearchHit, SearchRequest
from condense_grpc.errors import RequestInvalid
from condense_grpc.server.convert.tool_call import write_facts
from condense_grpc.server.convert.wire_text import wire_text
from condense_grpc.server.limits import DEFAULT_SEARCH_LINES, DEFAULT_SEARCH_RESULTS, MAX_PAGE_SIZE, MAX_QUERY_CHARS


def read_search(request: pb.SearchToolCallsRequest) -> SearchRequest:
    """The request. Raises RequestInvalid for a query that is empty or too long."""
    if not request.query:
        raise RequestInvalid("query", "must not be empty")
    if len(request.query) > MAX_QUERY_CHARS:
        chars = len(request.query)
        raise RequestInvalid("query", f"has {chars} characters, at most {MAX_QUERY_CHARS} are allowed")
    return SearchRequest(
        query=request.query,
        regex=request.regex,
        tool_names=frozenset(request.tool_names),
        max_results=_at_most(request.max_results, DEFAULT_SEARCH_RESULTS),
        max_lines=_at_most(request.max_lines, DEFAULT_SEARCH_LINES),
    )


def _at_most(wanted: int, default: int) -> int:
    return min(wanted, MAX_PAGE_SIZE) if wanted > 0 else default


def write_hit(hit: SearchHit) -> pb.SearchToolCallsResponse:
    """One record that matches."""
    answer = pb.SearchToolCallsResponse(matching_line_count=hit.line_count)
    write_facts(hit.facts, answer.record)
    for line in hit.lines:
        answer.lines.add(line_number=line.number, text=wire_text(line.text))
    return answer
