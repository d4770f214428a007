"""The two runs side by side: a Markdown table of what each left, for the summary and for the ticket."""

from collections.abc import Callable, Sequence
from typing import Final

from freeze_gate.evidence.record import Record
from freeze_gate.evidence.side import Pair, Side
from freeze_gate.report.context import View
from freeze_gate.report.escape import code_span, escape_markdown, markdown_link
from freeze_gate.report.markdown import table

UNKNOWN: Final = "-"
_SILENT: Final = ""  # unknown, and not worth a row where the other side does not know either


def side_by_side(pair: Pair, view: View) -> str:
    """Return the table: what each run left, row by row."""
    cells = [(name, show(pair.first, view), show(pair.rerun, view)) for name, show in _ROWS]
    rows = ((name, first or UNKNOWN, rerun or UNKNOWN) for name, first, rerun in cells if first or rerun)
    return table(("", "first run", "rerun"), rows)


def number(value: int | None) -> str:
    """Write a number with its thousands apart."""
    return UNKNOWN if value is None else f"{value:,}"


def _yes_no(value: bool | None) -> str:  # noqa: FBT001 - a value to show, no switch
    return UNKNOWN if value is None else "yes" if value else "no"


def _text(value: str | None) -> str:
    return _SILENT if value is None else code_span(value, 120)


def _artifact(side: Side, view: View) -> str:
    artifact = side.source.artifact
    if artifact is None:
        return code_span(side.source.label, 120)
    run = artifact.run_id or side.source.run_id
    page = view.address(f"actions/runs/{run}/artifacts/{artifact.id}") if run else None
    return f"{markdown_link(code_span(artifact.name, 120), page)}, id {artifact.id}"


def _published(side: Side, _view: View) -> str:
    artifact = side.source.artifact
    if artifact is None:
        return _SILENT
    return code_span(artifact.digest, 80) if artifact.digest else "not published"


def _trouble(side: Side, _view: View) -> str:
    fault = side.source.fault or side.fault
    return f"{code_span(fault.check)}: {escape_markdown(fault.detail)}" if fault else _SILENT


def _pinned(side: Side, _view: View) -> str:
    claimed = side.record.fixture_sha256 if side.record else None
    if side.pin is None:
        return f"the record names {code_span(claimed)}, the file is not there" if claimed else "nothing pinned"
    shown = f"{code_span(side.pin.sha256)}, {number(side.pin.size)} bytes"
    return shown if side.pin.sha256 == claimed else f"{shown}; the record names {_text(claimed) or 'none'}"


def _oracle(record: Record) -> str:
    passed, oracle = record.oracle_passed, record.oracle
    word = "not known" if passed is None else "passed" if passed else "**failed**"
    facts = (
        [escape_markdown(oracle.outcome.replace("_", " "))]
        if oracle.outcome and oracle.outcome not in ("passed", "failed")
        else []
    )
    facts += [f"exit code {oracle.exit_code}"] if oracle.exit_code is not None else []
    facts += [f"{oracle.runs} runs"] if oracle.runs not in (None, 1) else []
    return f"{word} ({', '.join(facts)})" if facts else word


def _egress(record: Record) -> str:
    if record.oracle.egress is None and record.oracle.egress_attempts is None:
        return "not recorded"
    attempts = "unknown" if record.oracle.egress_attempts is None else record.oracle.egress_attempts
    return f"{escape_markdown(record.oracle.egress or 'not known')}, {attempts} attempts to get out"


def _transport(record: Record) -> str:
    if record.transport_ok is False:
        return f"**fault**: {code_span(record.transport.fault or 'not named')}"
    if record.transport_ok:
        return "ok"
    return "no call: a replay of the other run's pin" if record.run.replay_of else "not known"


def _bytes(record: Record) -> str:
    transport = record.transport
    if transport.bytes_received is None and transport.bytes_declared is None:
        return _SILENT
    return f"{number(transport.bytes_received)} of {number(transport.bytes_declared)} declared"


def _declared(record: Record) -> str:
    checks = record.transport.checks._asdict().items()
    return (
        ", ".join(f"{code_span(name)} {code_span(str(value), 60)}" for name, value in checks if value is not None)
        or UNKNOWN
    )


def _of_record(show: Callable[[Record], str]) -> Callable[[Side, View], str]:
    return lambda side, _view: show(side.record) if side.record else _SILENT


_ROWS: Final[Sequence[tuple[str, Callable[[Side, View], str]]]] = (
    ("run", lambda side, view: view.run(side)),
    ("job", _of_record(lambda record: _text(record.run.job))),
    ("commit", _of_record(lambda record: _text(record.run.commit))),
    ("artifact", _artifact),
    ("published digest", _published),
    ("trouble", _trouble),
    ("pinned bytes", _pinned),
    ("oracle", _of_record(_oracle)),
    ("egress", _of_record(_egress)),
    ("transport", _of_record(_transport)),
    ("status", _of_record(lambda record: number(record.transport.status_code))),
    ("timed out", _of_record(lambda record: _yes_no(record.transport.timed_out))),
    ("retries", _of_record(lambda record: number(record.transport.retry_count))),
    ("bytes on the wire", _of_record(_bytes)),
    (
        "arrived whole",
        _of_record(
            lambda record: "" if record.transport.pin_complete is None else _yes_no(record.transport.pin_complete)
        ),
    ),
    ("declared checks", _of_record(_declared)),
    ("model", _of_record(lambda record: _text(record.sampler.model))),
    ("request", _of_record(lambda record: _text(record.sampler.request_sha256))),
)
