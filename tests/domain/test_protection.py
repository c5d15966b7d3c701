"""Protection by name and by path, asked about more names than it remembers."""

from condense_grpc.domain import protection as module
from condense_grpc.domain.protection import Protection


def test_a_name_or_one_of_the_paths_is_enough() -> None:
    protection = Protection(("read", "mcp.*"), ("**/skills/**/*.md",))
    assert protection.call("read", ())
    assert protection.call("mcp.x", ())
    assert protection.call("bash", ("src/a.py", "skills/a.md"))
    assert not protection.call("bash", ("src/a.py",))
    assert not protection.tool("bash")


def test_verdicts_stay_right_when_they_are_forgotten(monkeypatch: object) -> None:
    protection = Protection(("a*",), ("*.md",))
    names = [f"{'a' if n % 2 else 'b'}{n}" for n in range(2 * module._REMEMBERED)]
    for _ in range(2):
        assert [protection.tool(name) for name in names] == [name.startswith("a") for name in names]


def test_equality_ignores_what_was_asked() -> None:
    asked = Protection(("a",))
    asked.tool("a")
    assert asked == Protection(("a",))
    assert hash(asked) == hash(Protection(("a",)))
