"""Rust: the module `v1` of the crate, below `clients/rust/src/gen`.

A small program in the crate's workspace writes it; its own `Cargo.toml` pins what writes the code. Users of
the crate need neither it nor protoc.
"""

from __future__ import annotations

from pathlib import Path

from languages.language import REPOSITORY, Contract, Language, run

CRATE = REPOSITORY / "clients" / "rust"


def generate(contract: Contract, output: Path) -> None:
    """Writes the one file of the package below `output`."""
    cargo = ["cargo", "run", "--quiet", "--package", "condense-client-generator", "--"]
    run([*cargo, contract.descriptor_set, output], cwd=CRATE, CARGO_TARGET_DIR=str(CRATE / "target"))


RUST = Language("rust", CRATE / "src" / "gen", generate, tools=("cargo",))
