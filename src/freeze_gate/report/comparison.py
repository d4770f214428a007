"""The two runs side by side: a Markdown table of what each left, for the summary and for the ticket."""

from collections.abc import Callable, Sequence
from typing import Final

from freeze_gate.evidence.models import Pair, Side
from freeze_gate.evidence.record import Record
from freeze_gate.report.context import ReportContext
from freeze_gate.report.escape import code_span, escape_markdown, markdown_link
from freeze_gate.report.markdown import format_table

UNKNOWN: Final = "-"
_OMIT: Final = ""  # unknown; a row is left out if both sides omit it


def render_comparison(pair: Pair, context: ReportContext) -> str:
    """Return the table: a row for each fact, a column for each run."""
    rows = []
    for name, show in _ROWS:
        first, rerun = show(pair.first, context), show(pair.rerun, context)
        if first or rerun:
            rows.append((name, first or UNKNOWN, rerun or UNKNOWN))
    return format_table(("", "first run", "rerun"), rows)


def format_number(value: int | None) -> str:
    """Return a number with a comma between thousands; a dash for None."""
    return UNKNOWN if value is None else f"{value:,}"


def _yes_no(value: bool | None) -> str:  # noqa: FBT001 - a value to show, not a switch
    if value is None:
        return UNKNOWN
    return "yes" if value else "no"


def _text(value: str | None) -> str:
    return _OMIT if value is None else code_span(value, 120)


def _artifact(side: Side, context: ReportContext) -> str:
    artifact = side.source.artifact
    if artifact is None:
        return code_span(side.source.label, 120)
    run_id = artifact.run_id or side.source.run_id
    url = context.page_url(f"actions/runs/{run_id}/artifacts/{artifact.id}") if run_id else None
    return f"{markdown_link(code_span(artifact.name, 120), url)}, id {artifact.id}"


def _published_digest(side: Side, _context: ReportContext) -> str:
    artifact = side.source.artifact
    if artifact is None:
        return _OMIT
    return code_span(artifact.digest, 80) if artifact.digest else "not published"


def _problem(side: Side, _context: ReportContext) -> str:
    fault = side.source.fault or side.fault
    return f"{code_span(fault.check)}: {escape_markdown(fault.detail)}" if fault else _OMIT


def _pinned_bytes(side: Side, _context: ReportContext) -> str:
    recorded = side.record.fixture_sha256 if side.record else None
    if side.pin is None:
        return f"the record names {code_span(recorded)}, but the file is missing" if recorded else "nothing pinned"
    pinned = f"{code_span(side.pin.sha256)}, {format_number(side.pin.size)} bytes"
    return pinned if side.pin.sha256 == recorded else f"{pinned}; the record names {_text(recorded) or 'none'}"


def _oracle(record: Record) -> str:
    oracle = record.oracle
    result = {None: "not known", True: "passed", False: "**failed**"}[record.oracle_passed]
    details = []
    if oracle.outcome and oracle.outcome not in ("passed", "failed"):
        details.append(escape_markdown(oracle.outcome.replace("_", " ")))
    if oracle.exit_code is not None:
        details.append(f"exit code {oracle.exit_code}")
    if oracle.runs not in (None, 1):
        details.append(f"{oracle.runs} runs")
    return f"{result} ({', '.join(details)})" if details else result


def _network(record: Record) -> str:
    if record.oracle.egress is None and record.oracle.egress_attempts is None:
        return "not recorded"
    count = "an unknown number of" if record.oracle.egress_attempts is None else record.oracle.egress_attempts
    return f"{escape_markdown(record.oracle.egress or 'not known')}, {count} blocked attempts"


def _transport(record: Record) -> str:
    if record.transport_ok is False:
        return f"**fault**: {code_span(record.transport.fault or 'not named')}"
    if record.transport_ok:
        return "ok"
    return "no call: a replay of the other run's pin" if record.run.replay_of else "not known"


def _bytes_on_the_wire(record: Record) -> str:
    transport = record.transport
    if transport.bytes_received is None and transport.bytes_declared is None:
        return _OMIT
    return f"{format_number(transport.bytes_received)} of {format_number(transport.bytes_declared)} declared"


def _complete(record: Record) -> str:
    return _OMIT if record.transport.pin_complete is None else _yes_no(record.transport.pin_complete)


def _length_checks(record: Record) -> str:
    checks = record.transport.checks._asdict().items()
    values = [f"{code_span(name)} {code_span(str(value), 60)}" for name, value in checks if value is not None]
    return ", ".join(values) or UNKNOWN


def _of_record(show: Callable[[Record], str]) -> Callable[[Side, ReportContext], str]:
    return lambda side, _context: show(side.record) if side.record else _OMIT


_ROWS: Final[Sequence[tuple[str, Callable[[Side, ReportContext], str]]]] = (
    ("run", lambda side, context: context.link_run(side)),
    ("job", _of_record(lambda record: _text(record.run.job))),
    ("commit", _of_record(lambda record: _text(record.run.commit))),
    ("artifact", _artifact),
    ("published digest", _published_digest),
    ("problem", _problem),
    ("pinned bytes", _pinned_bytes),
    ("oracle", _of_record(_oracle)),
    ("network", _of_record(_network)),
    ("transport", _of_record(_transport)),
    ("status", _of_record(lambda record: format_number(record.transport.status_code))),
    ("timed out", _of_record(lambda record: _yes_no(record.transport.timed_out))),
    ("retries", _of_record(lambda record: format_number(record.transport.retry_count))),
    ("bytes on the wire", _of_record(_bytes_on_the_wire)),
    ("complete", _of_record(_complete)),
    ("length checks", _of_record(_length_checks)),
    ("model", _of_record(lambda record: _text(record.sampler.model))),
    ("request", _of_record(lambda record: _text(record.sampler.request_sha256))),
)
