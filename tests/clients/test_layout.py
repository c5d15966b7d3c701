"""Every language has what a stranger looks for, and nothing that ties it to the machine it was made on."""

import os
import re
from pathlib import Path

import pytest

CLIENTS = Path(__file__).parents[2] / "clients"
LANGUAGES = ["go", "java", "python", "rust", "typescript"]
METADATA = {"go": "go.mod", "java": "pom.xml", "rust": "Cargo.toml", "typescript": "package.json"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_its_readme_its_check_and_its_runner(language: str) -> None:
    readme = (CLIENTS / language / "README.md").read_text(encoding="utf-8")
    assert readme.count("\n") <= 60
    assert re.search(r"(localhost|127\.0\.0\.1):50051", readme), "the server that a test puts another one in place of"
    for program in ("check", "runner"):
        assert os.access(CLIENTS / language / program, os.X_OK), program
    assert (CLIENTS / language / "examples").is_dir()


@pytest.mark.parametrize("language", METADATA)
def test_a_package_can_be_published(language: str) -> None:
    folder = CLIENTS / language
    text = (folder / METADATA[language]).read_text(encoding="utf-8")
    assert "condense" in text
    assert (folder / "LICENSE").read_text(encoding="utf-8") == (CLIENTS.parent / "LICENSE").read_text(encoding="utf-8")
    if language != "go":  # whose module file holds neither
        assert "MIT" in text
        assert "0.1.0" in text


def test_the_page_of_all_clients_names_each() -> None:
    page = (CLIENTS / "README.md").read_text(encoding="utf-8")
    for language in LANGUAGES:
        assert re.search(rf"^\| {language} \|", page, re.MULTILINE | re.IGNORECASE), language


def test_lock_files_name_no_registry() -> None:
    locks = [*CLIENTS.glob("*/package-lock.json"), *CLIENTS.glob("*/*/package-lock.json")]
    assert locks
    for lock in locks:
        assert '"resolved": "http' not in lock.read_text(encoding="utf-8"), lock
