"""What the two runs left, for the summary and for the ticket: a table of what matters, and a list of every fact."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from freeze_gate.evidence.abbreviation import count
from freeze_gate.evidence.models import Pair, Side
from freeze_gate.evidence.record import Record
from freeze_gate.report.context import ReportContext
from freeze_gate.report.escape import code_span, escape_markdown, markdown_link, short_code
from freeze_gate.report.markdown import format_list, format_table

UNKNOWN: Final = "-"
_OMIT: Final = ""  # unknown; a fact is left out if both sides omit it

_SHORT_DIGEST: Final = 12


class _Fact(NamedTuple):
    """One fact about a side, as Markdown; an empty text means unknown.

    `show` returns the full text, by which the two sides are compared, `shorten` the one for a table cell. `reasons` are
    those for which the fact stands in the table; None means all of them. `is_compared` is false where the two runs
    differ by nature.
    """

    name: str
    show: Callable[[Side, ReportContext], str]
    shorten: Callable[[Side, ReportContext], str] | None = None
    reasons: frozenset[str] | None = frozenset()
    is_compared: bool = True


def render_comparison(pair: Pair, reason: str, context: ReportContext) -> str:
    """Return the table: a row for each fact that matters for a reason, a column for each run, and what is the same."""
    rows = []
    for fact in _FACTS:
        if fact.reasons is None or reason in fact.reasons:
            full = [fact.show(side, context) for side in (pair.first, pair.rerun)]
            cells = [(fact.shorten or fact.show)(side, context) for side in (pair.first, pair.rerun)]
            if any(cells):
                same = "" if not fact.is_compared or not all(full) else "same" if full[0] == full[1] else "**differs**"
                rows.append((fact.name, cells[0] or UNKNOWN, cells[1] or UNKNOWN, same))
    return format_table(("", "first run", "rerun", ""), rows)


def render_facts(pair: Pair, context: ReportContext) -> str:
    """Return the list of all that is known about the two runs, with full digests."""
    return format_list(list(_fact_lines(pair, context)), len(_FACTS))


def _fact_lines(pair: Pair, context: ReportContext) -> Iterator[str]:
    for fact in _FACTS:
        first, rerun = fact.show(pair.first, context), fact.show(pair.rerun, context)
        if first and first == rerun:
            yield f"{fact.name}: {first} in both runs"
        elif first or rerun:
            yield f"{fact.name}: {first or UNKNOWN} in the first run, {rerun or UNKNOWN} in the rerun"


def shorten_digest(digest: str) -> str:
    """Return the first characters of a digest or a commit, as code."""
    return code_span(digest[:_SHORT_DIGEST])


def format_number(value: int | None) -> str:
    """Return a number with a comma between thousands; a dash for None."""
    return UNKNOWN if value is None else f"{value:,}"


def describe_oracle(record: Record) -> str:
    """Return how the oracle ended, as plain text."""
    oracle = record.oracle
    result = {None: "not known", True: "passed", False: "failed"}[record.oracle_passed]
    details = []
    if record.oracle_passed is None and oracle.outcome == "not_run":
        result = "not run"
    elif oracle.outcome and oracle.outcome not in ("passed", "failed"):
        details.append(oracle.outcome.replace("_", " "))
    if oracle.exit_code is not None:
        details.append(f"exit code {oracle.exit_code}")
    if oracle.runs not in (None, 1):
        details.append(f"{oracle.runs} runs")
    return ", ".join([result, *details])


def describe_transport(record: Record) -> str:
    """Return how the calls for the sample went, as plain text."""
    transport = record.transport
    if record.transport_ok is False:
        status = f" {transport.status_code}" if transport.fault == "http_status" and transport.status_code else ""
        return f"fault: {transport.fault or 'not named'}{status}"
    if record.transport_ok:
        return "ok"
    return "no call: a replay of the other run's pin" if record.run.replay_of else "not known"


def _yes_no(value: bool | None) -> str:  # noqa: FBT001 - a value to show, not a switch
    if value is None:
        return _OMIT
    return "yes" if value else "no"


def _count(value: int | None) -> str:
    return _OMIT if value is None else format_number(value)


def _text(value: str | None) -> str:
    return _OMIT if value is None else code_span(value, 120)


def link_artifact(side: Side, context: ReportContext, show_name: Callable[[str], str] = code_span) -> str:
    """Return a link to the page from which a side's artifact is downloaded, under its name."""
    artifact = side.source.artifact
    if artifact is None:
        return show_name(side.source.label)
    url = context.page_url(f"actions/runs/{side.run_id}/artifacts/{artifact.id}") if side.run_id else None
    return markdown_link(show_name(artifact.name), url)


def _artifact(side: Side, context: ReportContext) -> str:
    link = link_artifact(side, context)
    return f"{link}, id {side.source.artifact.id}" if side.source.artifact else link


def _published_digest(side: Side, _context: ReportContext) -> str:
    artifact = side.source.artifact
    if artifact is None:
        return _OMIT
    return code_span(artifact.digest, 80) if artifact.digest else "not published"


def _short_published_digest(side: Side, _context: ReportContext) -> str:
    digest = side.source.artifact and side.source.artifact.digest
    return shorten_digest(digest.removeprefix("sha256:")) if digest else _OMIT


def _problem(side: Side, _context: ReportContext) -> str:
    fault = side.source.fault or side.fault
    return code_span(fault.check) if fault else _OMIT


def _pinned_bytes(side: Side, show: Callable[[str], str]) -> str:
    recorded = side.record.fixture_sha256 if side.record else None
    if side.pin is None:
        if recorded:
            return f"the record names {show(recorded)}, but the file is missing"
        return "nothing pinned" if side.record else _OMIT
    text = f"{show(side.pin.sha256)}, {format_number(side.pin.size)} bytes"
    if side.record and side.record.transport.pin_complete is False:
        text += ", **cut off**"
    if side.pin.sha256 != recorded:
        text += f"; the record names {show(recorded) if recorded else 'none'}"
    return text


def _oracle(record: Record) -> str:
    text = escape_markdown(describe_oracle(record))
    return f"**failed**{text.removeprefix('failed')}" if record.oracle_passed is False else text


def _transport(record: Record) -> str:
    text = escape_markdown(describe_transport(record))
    return f"**{text}**" if record.transport_ok is False else text


def _network(record: Record) -> str:
    if record.oracle.egress is None and record.oracle.egress_attempts is None:
        return "not recorded"
    attempts = record.oracle.egress_attempts
    blocked = "an unknown number of blocked attempts" if attempts is None else count(attempts, "blocked attempt")
    return f"{escape_markdown(record.oracle.egress or 'not known')}, {blocked}"


def _recorded_run(record: Record) -> str:
    run = record.run
    return f"run {run.run_id or 'not known'}, attempt {run.run_attempt or 'not known'}"


def _bytes_on_the_wire(record: Record) -> str:
    transport = record.transport
    if transport.bytes_received is None and transport.bytes_declared is None:
        return _OMIT
    return f"{format_number(transport.bytes_received)} of {format_number(transport.bytes_declared)} declared"


def _length_checks(record: Record) -> str:
    checks = record.transport.checks._asdict().items()
    return ", ".join(f"{code_span(name)} {code_span(str(value), 60)}" for name, value in checks if value is not None)


def _of_record(show: Callable[[Record], str]) -> Callable[[Side, ReportContext], str]:
    return lambda side, _context: show(side.record) if side.record else _OMIT


def _digest_fact(name: str, read: Callable[[Record], str | None], *reasons: str) -> _Fact:
    """Return a fact that is a digest or a commit: in full in the list, short in the table."""

    def shorten(record: Record) -> str:
        digest = read(record)
        return _OMIT if digest is None else shorten_digest(digest)

    return _Fact(name, _of_record(lambda record: _text(read(record))), _of_record(shorten), frozenset(reasons))


def _text_fact(name: str, read: Callable[[Record], str | None], *reasons: str) -> _Fact:
    return _Fact(
        name,
        _of_record(lambda record: _text(read(record))),
        _of_record(lambda record: short_code(read(record) or _OMIT)),
        frozenset(reasons),
    )


_FACTS: Final = (
    _Fact("run", lambda side, context: context.link_run(side), reasons=None, is_compared=False),
    _Fact("problem", _problem, reasons=None, is_compared=False),
    _Fact(
        "pinned bytes",
        lambda side, _context: _pinned_bytes(side, code_span),
        lambda side, _context: _pinned_bytes(side, shorten_digest),
        reasons=None,
    ),
    _Fact("oracle", _of_record(_oracle), reasons=None),
    _Fact("transport", _of_record(_transport), reasons=None),
    _Fact("network", _of_record(_network), reasons=frozenset({"oracle-egress", "oracle-unsealed"})),
    _digest_fact("oracle's input", lambda record: record.oracle.fixture_sha256, "oracle-input-mismatch"),
    _Fact("run in the record", _of_record(_recorded_run), reasons=frozenset({"run-mismatch"})),
    _digest_fact("commit", lambda record: record.run.commit, "commit-mismatch", "run-mismatch"),
    _digest_fact("checkout", lambda record: record.run.checkout, "commit-mismatch", "commit-unknown"),
    _text_fact("event", lambda record: record.run.event, "commit-unknown"),
    _Fact(
        "artifact",
        _artifact,
        lambda side, context: link_artifact(side, context, short_code),
        frozenset({"artifact-same", "run-mismatch"}),
    ),
    _Fact("published digest", _published_digest, _short_published_digest, frozenset({"archive-digest-mismatch"})),
    _Fact(
        "downloaded digest",
        lambda side, _context: _text(side.source.sha256),
        lambda side, _context: shorten_digest(side.source.sha256) if side.source.sha256 else _OMIT,
        frozenset({"archive-digest-mismatch"}),
    ),
    _text_fact("model", lambda record: record.sampler.model, "digests-differ"),
    _digest_fact("request", lambda record: record.sampler.request_sha256, "digests-differ"),
    _text_fact("selected", lambda record: record.sampler.selected, "digests-differ"),
    _text_fact("job", lambda record: record.run.job),
    _Fact("status", _of_record(lambda record: _count(record.transport.status_code))),
    _Fact("timed out", _of_record(lambda record: _yes_no(record.transport.timed_out))),
    _Fact("retries", _of_record(lambda record: _count(record.transport.retry_count))),
    _Fact("bytes on the wire", _of_record(_bytes_on_the_wire)),
    _Fact("complete", _of_record(lambda record: _yes_no(record.transport.pin_complete))),
    _Fact("length checks", _of_record(_length_checks)),
)
