"""The first line of a call."""

import pytest

from condense_grpc.domain.batches import Call
from condense_grpc.summarize.call_heading import arguments_of, command_of, heading, label_of, telling_argument


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"command": "cd /repo && make   test"}, "make test"),
        ({"cmd": ["git", "log"]}, "git log"),
        ({"file_path": "/very/long/path/to/some/file.py", "offset": 3}, "…ng/path/to/some/file.py"),
        ({"pattern": "TODO", "path": "src"}, "TODO in src"),
        ({"url": "https://x.org"}, "https://x.org"),
        ({"reservation": "ABC123", "n": 1}, "ABC123"),
        ({"n": 1}, '{"n":1}'),
        ({}, ""),
    ],
)
def test_the_telling_argument_is_the_command_the_term_or_the_path(arguments: dict[str, object], shown: str) -> None:
    assert telling_argument(arguments, 24) == shown


def test_arguments_that_are_no_object_are_one_argument() -> None:
    assert arguments_of(Call("i", "t", "not json", "")) == {"": "not json"}
    assert command_of({"command": None, "cmd": 3}) == ""


def test_little_room_leaves_the_label_and_the_outcome() -> None:
    call = Call("i", "read", "{}", "", is_error=True)
    line = heading(call, label_of(3, "read"), 0, detail="9 lines", arguments={"path": "src/a.py"})
    assert line == "- [[3:read]] ERROR"
