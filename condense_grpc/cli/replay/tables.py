"""What a replay prints for people."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from condense_grpc.cli.replay.comparison import Comparison
from condense_grpc.cli.replay.run import ReplayReport
from condense_grpc.native.formats import NativeFormat


def print_requests(console: Console, report: ReplayReport) -> None:
    """The tokens of every request of a session."""
    table = Table(title=f"{report.file}: tokens per request")
    for name in ("request", "raw", "condensed", "left"):
        table.add_column(name, justify="right")
    for number, (raw, condensed) in enumerate(report.per_request, start=1):
        table.add_row(str(number), f"{raw:,}", f"{condensed:,}", _percent(condensed, raw))
    console.print(table)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "-"


def print_totals(console: Console, reports: Sequence[ReplayReport]) -> None:
    """What came of every session, and of all together."""
    table = Table(title="Tokens (characters / 4): raw history against what was sent instead")
    names = ("session", "requests", "raw", "condensed", "left", "raw peak", "peak", "left", "breaks", "flushes", "refs")
    for name in (*names, "recovered", "invalid", "violations"):
        table.add_column(name, justify="left" if name == "session" else "right")
    for report in (*reports, _total(reports)):
        table.add_row(
            report.file,
            f"{report.requests:,}",
            f"{report.raw_tokens:,}",
            f"{report.condensed_tokens:,}",
            _percent(report.condensed_tokens, report.raw_tokens),
            f"{report.raw_peak_tokens:,}",
            f"{report.condensed_peak_tokens:,}",
            _percent(report.condensed_peak_tokens, report.raw_peak_tokens),
            str(report.cache_breaks),
            str(report.flushes),
            str(report.refs),
            f"{report.recovered_exact}/{report.results}",
            str(report.invalid_views),
            str(report.violations),
        )
    console.print(table)
    held = all(report.holds for report in reports)
    console.print("every original came back, every view is valid" if held else "NOT every check held", style="bold")


def _total(reports: Sequence[ReplayReport]) -> ReplayReport:
    """The sum of everything; peaks are the largest single ones."""
    total = ReplayReport("total")
    for report in reports:
        for name, value in report.as_json().items():
            if name.endswith("peak_tokens"):
                setattr(total, name, max(getattr(total, name), value))
            elif name != "file":
                setattr(total, name, getattr(total, name) + value)
    return total


def print_comparisons(console: Console, comparisons: Sequence[Comparison]) -> None:
    """For each session and shape: whether the same is decided in all views."""
    table = Table(title="Decisions in each shape, against messages of the contract that say as much")
    for name in ("session", "views", *(form.value for form in NativeFormat)):
        table.add_column(name, justify="left" if name == "session" else "right")
    for one in comparisons:
        views = max(len(report.decisions) - 1 for report in one.reports.values())
        table.add_row(one.file, f"{views:,}", *(_verdict(one, form.value) for form in NativeFormat))
    console.print(table)
    held = all(one.holds for one in comparisons)
    console.print("every shape decides the same" if held else "NOT every check held", style="bold")


def _verdict(comparison: Comparison, shape: str) -> str:
    if shape in comparison.differences:
        return f"parts at view {comparison.differences[shape] + 1}"
    return "equal" if comparison.reports[shape].holds else "equal, but a check failed"
