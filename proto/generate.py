"""Generates the code of the contract, for every language of this repository.

    python proto/generate.py                      # writes it
    python proto/generate.py --check              # exits with 1 if the committed files differ, naming them
    python proto/generate.py --only python,go     # … for some languages; --without rust: for the others

What is generated depends on nothing but the proto files and the pinned generators (`proto/languages/`, one module per
language), and it is committed. Files in the folder of a language that no proto file accounts for are removed. A
toolchain that is missing is named; nothing of its language is touched then, and the others are done all the same.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from languages import LANGUAGES
from languages.language import REPOSITORY, CannotGenerate, Contract, Language


def read_tree(root: Path) -> dict[str, bytes]:
    """The content of every file below `root` by its relative path, without what Python leaves there."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def bring_up_to_date(language: Language, contract: Contract, *, check_only: bool) -> list[str]:
    """Generates one language. Returns the files that differed, which are right now unless `check_only`."""
    language.check_tools()
    with tempfile.TemporaryDirectory() as folder:
        language.generate(contract, Path(folder))
        wanted = read_tree(Path(folder))
    present = read_tree(language.output)
    different = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if not check_only:
        for name in different:
            _put(language.output / name, wanted.get(name))
        for cache in language.output.rglob("__pycache__"):
            shutil.rmtree(cache, ignore_errors=True)
    return [(language.output / name).relative_to(REPOSITORY).as_posix() for name in different]


def _put(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def chosen(arguments: argparse.Namespace) -> Sequence[Language]:
    """The languages that the command line asks for."""
    known = {language.name for language in LANGUAGES}
    only, without = (set(filter(None, text.split(","))) for text in (arguments.only, arguments.without))
    unknown = (only | without) - known
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; the languages are {', '.join(sorted(known))}")
    return [one for one in LANGUAGES if one.name not in without and (not only or one.name in only)]


def main() -> int:
    """Generates, or checks what was generated; returns the exit code."""
    parser = argparse.ArgumentParser(description="Generate the code of the contract.")
    parser.add_argument("--check", action="store_true", help="only compare with the committed files")
    parser.add_argument("--only", default="", metavar="NAMES", help="these languages, separated by commas")
    parser.add_argument("--without", default="", metavar="NAMES", help="all but these languages")
    arguments = parser.parse_args()

    failed = False
    with tempfile.TemporaryDirectory() as folder:
        contract = Contract(Path(folder))
        for language in chosen(arguments):
            try:
                different = bring_up_to_date(language, contract, check_only=arguments.check)
            except CannotGenerate as error:
                print(error, file=sys.stderr)
                failed = True
                continue
            for name in different:
                print(f"{name} {'is not what the contract generates' if arguments.check else 'is written'}")
            failed |= bool(different) and arguments.check
            print(f"{language.name}: {f'{len(different)} files differed' if different else 'as the contract says'}")
    if failed and arguments.check:
        print("Run `python proto/generate.py` (or `make generate`) and commit the result.")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
