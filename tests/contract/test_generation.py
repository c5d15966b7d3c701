"""Generating code: what differs is found and put right, what is missing is named, and the rest goes on."""

import dataclasses
import sys
from pathlib import Path

import pytest

PROTO = Path(__file__).parents[2] / "proto"
sys.path.insert(0, str(PROTO))

import generate  # noqa: E402
from languages import LANGUAGES  # noqa: E402
from languages.go import GO  # noqa: E402
from languages.language import REPOSITORY, CannotGenerate, Contract, Language  # noqa: E402


def write(contract: Contract, folder: Path) -> None:
    (folder / "pkg").mkdir()
    (folder / "pkg" / "one.txt").write_text(contract.files[0])


@pytest.fixture
def language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Language:
    monkeypatch.setattr(generate, "REPOSITORY", tmp_path)
    return Language("toy", tmp_path / "toy", write)


def test_files_are_written_put_right_and_removed(language: Language, tmp_path: Path) -> None:
    contract = Contract(tmp_path)
    assert generate.bring_up_to_date(language, contract, check_only=True) == ["toy/pkg/one.txt"]
    assert not language.output.exists()
    assert generate.bring_up_to_date(language, contract, check_only=False) == ["toy/pkg/one.txt"]
    assert (language.output / "pkg" / "one.txt").read_text() == "condense/v1/capabilities.proto"
    assert generate.bring_up_to_date(language, contract, check_only=True) == []

    (language.output / "pkg" / "one.txt").write_text("by hand")
    (language.output / "stale.txt").write_text("of a file that is gone")
    assert generate.bring_up_to_date(language, contract, check_only=True) == ["toy/pkg/one.txt", "toy/stale.txt"]
    generate.bring_up_to_date(language, contract, check_only=False)
    assert sorted(path.name for path in language.output.rglob("*.txt")) == ["one.txt"]


def test_a_missing_toolchain_is_named_with_the_way_out(language: Language, tmp_path: Path) -> None:
    needy = dataclasses.replace(language, tools=("no-such-compiler",))
    with pytest.raises(CannotGenerate, match=r"toy: no-such-compiler is not installed.*--without toy"):
        generate.bring_up_to_date(needy, Contract(tmp_path), check_only=False)


def test_the_other_languages_go_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    needy = dataclasses.replace(GO, tools=("no-such-compiler",))
    python = next(one for one in LANGUAGES if one.name == "python")
    monkeypatch.setattr(generate, "LANGUAGES", (needy, python))
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generate.main() == 1
    told = capsys.readouterr()
    assert "python: as the contract says" in told.out
    assert "no-such-compiler" in told.err


@pytest.mark.parametrize("arguments", [["--only", "cobol"], ["--without", "python,cobol"]])
def test_a_language_that_does_not_exist_is_refused(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["generate.py", *arguments])
    with pytest.raises(SystemExit, match="unknown: cobol"):
        generate.main()


def test_languages_can_be_picked_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def picked(*arguments: str) -> set[str]:
        parsed = generate.argparse.Namespace(only="", without="")
        for name, value in zip(arguments[::2], arguments[1::2], strict=True):
            setattr(parsed, name, value)
        return {one.name for one in generate.chosen(parsed)}

    everything = {one.name for one in LANGUAGES}
    assert everything == {"python", "go", "rust", "java", "typescript"}
    assert picked("only", "go,java") == {"go", "java"}
    assert picked("without", "go,java") == everything - {"go", "java"}


def test_every_language_has_a_folder_of_its_own() -> None:
    folders = [one.output.relative_to(REPOSITORY) for one in LANGUAGES]
    assert all(a == b or a not in b.parents for a in folders for b in folders)
    assert len(set(folders)) == len(folders)
