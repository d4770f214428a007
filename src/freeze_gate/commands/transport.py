"""`freeze-gate transport`: record one more call, made by another HTTP client than the recorder."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.capture.environment import current_run
from freeze_gate.capture.transport.curl import MAX_REPORT_BYTES, outcome_from_facts, parse_curl_report
from freeze_gate.capture.transport.length_checks import make_checks
from freeze_gate.capture.transport.merge import Call, RequestKey
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.commands import CommandContext
from freeze_gate.commands._output import format_transport
from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import TRANSPORT_FAULTS, InvalidRecord

_FACTS = ("status_code", "fault", "bytes_received", "bytes_declared", "retry_count")


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--id", required=True, metavar="ID", help="the fixture id")
    parser.add_argument("--bundle", metavar="DIR", help="the bundle's folder (FREEZE_GATE_BUNDLE, else freeze-gate)")
    parser.add_argument("--from-curl", metavar="FILE", help="what curl -w '%%{json}' printed; - is standard input")
    parser.add_argument("--status-code", type=int, metavar="N", help="the last status; none where no answer came")
    parser.add_argument("--fault", choices=TRANSPORT_FAULTS, help="how the transport failed; without one it did not")
    parser.add_argument("--retry-count", type=int, metavar="N", help="attempts on top of the first")
    parser.add_argument("--bytes-received", type=int, metavar="N", help="the body on the wire, before content decoding")
    parser.add_argument("--bytes-declared", type=int, metavar="N", help="the answer's Content-Length")
    parser.add_argument("--min-bytes", type=int, metavar="N", help="what was declared in advance; for length_check")
    parser.add_argument("--max-bytes", type=int, metavar="N", help="as --min-bytes")
    parser.add_argument("--ends-with", metavar="TEXT", help="as --min-bytes")


def run(args: Namespace, context: CommandContext) -> int:
    """Fold the call into the record, and say on stderr what the record says now."""
    call = _call(args, context)
    recorder = Recorder(
        Store(bundle_folder(args.bundle, context.environ)),
        args.id,
        current_run(context.environ, context.now()),
        make_checks(args.min_bytes, args.max_bytes, args.ends_with),
    )
    exchange = recorder.begin(RequestKey("", "", None))
    recorder.add_retries(exchange, call.retries)
    try:
        exchange.finish(call.outcome)
        record = recorder.save()
    except InvalidRecord as error:
        raise UsageError(f"these facts cannot be recorded: {error}") from None
    print(f"freeze-gate transport: {format_transport(record)}", file=context.stderr)
    return 0


def _call(args: Namespace, context: CommandContext) -> Call:
    given = {name: value for name in _FACTS if (value := getattr(args, name)) is not None}
    if args.from_curl is not None:
        if given:
            raise UsageError("--from-curl says it all: leave the other facts out")
        return parse_curl_report(_read(args.from_curl, context))
    if not given:
        raise UsageError("nothing is said of the call: give --from-curl, or at least --status-code or --fault")
    outcome = outcome_from_facts(
        args.status_code, fault=args.fault, received=args.bytes_received, declared=args.bytes_declared
    )
    return Call(outcome, args.retry_count or 0)


def _read(name: str, context: CommandContext) -> bytes:
    if name == "-":
        return context.stdin.read(MAX_REPORT_BYTES)
    try:
        with Path(name).open("rb") as stream:
            return stream.read(MAX_REPORT_BYTES)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from None
