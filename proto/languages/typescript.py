"""TypeScript: one module per proto file, below `clients/typescript/src/gen`.

The plugin is protoc-gen-es, pinned in the package's own package.json and lock file, and installed there.
"""

from __future__ import annotations

from pathlib import Path

from languages.language import REPOSITORY, Contract, Language, run

PACKAGE = REPOSITORY / "clients" / "typescript"


def generate(contract: Contract, output: Path) -> None:
    """Writes the modules below `output`."""
    plugin = PACKAGE / "node_modules" / ".bin" / "protoc-gen-es"
    if not plugin.exists():
        run(["npm", "ci", "--ignore-scripts"], cwd=PACKAGE)
    contract.protoc_from_sources(
        f"--plugin=protoc-gen-es={plugin}", f"--es_out={output}", "--es_opt=target=ts,import_extension=js"
    )


TYPESCRIPT = Language("typescript", PACKAGE / "src" / "gen", generate, tools=("npm",))
