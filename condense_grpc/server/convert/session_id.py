"""Session ids: what may name a session.

Any text from 1 character up to the limit, without control characters. Nothing is normalized: ids are compared code
point by code point.
"""

from unicodedata import category

from condense_grpc.errors import SessionIdInvalid, SessionNotFound
from condense_grpc.server.limits import MAX_SESSION_ID_CHARS


def new_session_id(session_id: str, field: str = "session_id") -> str:
    """The id of a session that may be created by the call. Raises SessionIdInvalid."""
    fault = _fault(session_id)
    if fault:
        raise SessionIdInvalid(field, fault, chars=len(session_id), maxChars=MAX_SESSION_ID_CHARS)
    return session_id


def known_session_id(session_id: str) -> str:
    """The id of a session that must exist. What cannot be an id names no session: raises SessionNotFound."""
    if _fault(session_id):
        raise SessionNotFound(session_id)
    return session_id


def is_session_id(session_id: str) -> bool:
    """Whether a session can have this id."""
    return not _fault(session_id)


def _fault(session_id: str) -> str:
    if not session_id:
        return "must not be empty"
    if len(session_id) > MAX_SESSION_ID_CHARS:
        return f"has {len(session_id)} characters, at most {MAX_SESSION_ID_CHARS} are allowed"
    if not session_id.isprintable() and any(category(character) == "Cc" for character in session_id):
        return "must not hold control characters"
    return ""
