"""The README says what is true: its code runs, its commands exist, its words are the code's."""

import re
from pathlib import Path

from condense_grpc.cli.main import COMMANDS
from condense_grpc.cli.server_process import ServerProcess

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_python_runs_against_a_real_server(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    with ServerProcess(tmp_path / "readme.db") as server:
        names: dict[str, object] = {}
        exec(code.replace("127.0.0.1:50051", server.address), names)
        assert names["view"].messages == names["messages"][:1]  # type: ignore[attr-defined, index]
        names["client"].close()  # type: ignore[attr-defined]


def test_its_table_names_every_command() -> None:
    assert set(re.findall(r"^\| `condense-grpc (\w+)", README, re.MULTILINE)) == set(COMMANDS)


def test_every_target_that_it_names_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"make ([a-z-]+)", README))
    assert {"demo", "test", "check", "help"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_every_file_that_it_names_exists() -> None:
    for path in re.findall(r"`((?:proto|condense_grpc|clients|docs)/[^`]*)`", README):
        assert list(ROOT.glob(path.rstrip("/"))), path


def test_it_is_short() -> None:
    assert README.count("\n") <= 150
