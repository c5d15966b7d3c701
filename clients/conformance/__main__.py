"""`python clients/conformance [--languages go,python] [--scenario NAME]`: all runners against one real server.

Prints language x scenario and what failed; exits with 1 if anything did. A language takes part by the executable
`clients/<language>/runner`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence

from driver import LAST, Suite, play_all, read_suite
from peer import ROOT, Server


def find_runners() -> dict[str, list[str]]:
    """The command of every language that has one."""
    return {path.parent.name: [str(path)] for path in sorted(ROOT.glob("clients/*/runner"))}


def table(names: Sequence[str], results: Mapping[str, Mapping[str, str | None]]) -> str:
    """One line per scenario, one column per language."""
    width = max(map(len, names)) + 2
    columns = {language: max(len(language), 6) + 2 for language in results}
    lines = ["scenario".ljust(width) + "".join(language.ljust(columns[language]) for language in results)]
    for name in names:
        cells = {language: _cell(outcomes, name) for language, outcomes in results.items()}
        lines.append(name.ljust(width) + "".join(cells[language].ljust(columns[language]) for language in results))
    return "\n".join(lines)


def _cell(outcomes: Mapping[str, str | None], name: str) -> str:
    if name not in outcomes:
        return "-"
    return "ok" if outcomes[name] is None else "FAILED"


def play_languages(suite: Suite, runners: Mapping[str, Sequence[str]], pick: str) -> dict[str, dict[str, str | None]]:
    """What went wrong by language and scenario; None: nothing."""
    results: dict[str, dict[str, str | None]] = {}
    with Server() as server:
        for language, command in runners.items():
            outcomes: dict[str, str | None] = {}
            started = time.monotonic()
            play_all(suite, server, command, outcomes.__setitem__, pick)
            results[language] = outcomes
            failed = sum(problem is not None for problem in outcomes.values())
            print(
                f"{language}: {len(outcomes)} played, {failed} failed, {time.monotonic() - started:.1f} s", flush=True
            )
            for name, problem in outcomes.items():
                if problem is not None:
                    print(f"  {name}: {problem}", flush=True)
    return results


def main() -> int:
    """Plays and prints; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", default="", help="only these, separated by commas")
    parser.add_argument("--scenario", default="", help="only those with this in their name")
    arguments = parser.parse_args()
    runners = find_runners()
    wanted = [name for name in arguments.languages.split(",") if name] or list(runners)
    for name in wanted:
        if name not in runners:
            sys.exit(f"there is no clients/{name}/runner; there are runners for {', '.join(runners)}")

    suite = read_suite()
    results = play_languages(suite, {name: runners[name] for name in wanted}, arguments.scenario)
    played = {name for outcomes in results.values() for name in outcomes}
    print("\n" + table([name for name in (*(one.name for one in suite.scenarios), LAST) if name in played], results))
    return int(any(problem is not None for outcomes in results.values() for problem in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
