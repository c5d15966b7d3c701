"""The demonstration over small folders: what it says and that it fails when a check does."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from condense_grpc.cli.demo.command import demo
from condense_grpc.cli.demo.tools import Toolbox
from tests.cli.session_sample import file_text


def test_every_check_holds_over_a_folder_with_files(tmp_path: Path) -> None:
    for name in ("alpha", "beta", "gamma"):
        (tmp_path / f"{name}.py").write_text(file_text(name, 200), encoding="utf-8")
    (tmp_path / "README.md").write_text("# A folder\nerror handling: none\n" * 40, encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    result = CliRunner().invoke(demo, ["--path", str(tmp_path)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "FAILED" not in result.output
    assert "the server is killed and started again" in result.output
    assert "prune: ON" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_empty_folder_is_no_failure(tmp_path: Path) -> None:
    result = CliRunner().invoke(demo, ["--path", str(tmp_path)], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_an_original_that_does_not_come_back_fails_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from condense_grpc.client import Session

    (tmp_path / "a.py").write_text(file_text("alpha", 200), encoding="utf-8")
    monkeypatch.setattr(Session, "read", lambda self, ref: iter(["something else"]))
    result = CliRunner().invoke(demo, ["--path", str(tmp_path)])
    assert result.exit_code == 1
    assert "FAILED" in result.output


def test_the_tools_are_real_and_stay_inside(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "b.bin").write_bytes(b"\0\1")
    tools = Toolbox(tmp_path)
    assert tools.call("read_file", {"path": "a.txt"}).text == "one\ntwo\n"
    assert tools.call("list_files", {}).text.split() == ["8", "a.txt"]
    assert tools.call("search", {"pattern": "^t"}).text == "a.txt:2: two"
    assert tools.call("run", {"script": "print(1); raise SystemExit(3)"}).text == "1\nexit code 3"
    for call in (
        ("read_file", {"path": "../x"}),
        ("read_file", {"path": "no"}),
        ("search", {"pattern": "("}),
        ("no", {}),
    ):
        assert tools.call(*call).is_error
