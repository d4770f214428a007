"""`freeze-gate transport`: record one more call, made by another HTTP client than the recorder."""

from argparse import ArgumentParser, Namespace
from typing import Final

from freeze_gate.capture.bundle.store import Store, bundle_folder
from freeze_gate.capture.environment import current_run
from freeze_gate.capture.transport.curl import MAX_REPORT_BYTES, outcome_from_facts, parse_curl_report
from freeze_gate.capture.transport.length_checks import make_checks
from freeze_gate.capture.transport.merge import Call, RequestKey
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.commands import CommandContext
from freeze_gate.commands._capture import add_record_arguments, format_transport, open_input
from freeze_gate.errors import UsageError
from freeze_gate.evidence.record import TRANSPORT_FAULTS, InvalidRecord

EXAMPLE: Final = "freeze-gate transport --id sorted-patch --from-curl curl.json"
EXIT_CODES: Final = {
    "0": "the call is recorded, also a failed one",
    "2": "a wrong argument, facts that contradict each other, or an oracle has run on the id",
    "3": "the bundle cannot be written",
}


def configure(parser: ArgumentParser) -> None:
    add_record_arguments(parser)
    parser.add_argument("--from-curl", metavar="FILE", help="what curl -w '%%{json}' printed; - is standard input")
    parser.add_argument("--status-code", type=int, metavar="N", help="the last status; leave out if no answer came")
    parser.add_argument("--fault", choices=TRANSPORT_FAULTS, help="how the transport failed; leave out if it did not")
    parser.add_argument("--retry-count", type=int, metavar="N", help="number of retries")
    parser.add_argument("--bytes-received", type=int, metavar="N", help="body bytes received, before content decoding")
    parser.add_argument("--bytes-declared", type=int, metavar="N", help="the answer's Content-Length")
    parser.add_argument("--min-bytes", type=int, metavar="N", help="the declared minimum, for the fault length_check")
    parser.add_argument("--max-bytes", type=int, metavar="N", help="the declared maximum, for the same")
    parser.add_argument("--ends-with", metavar="TEXT", help="the declared end, for the same")


def run(args: Namespace, context: CommandContext) -> int:
    """Merge the call into the record, and print on stderr what the record says now."""
    call = _read_call(args, context)
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


def _read_call(args: Namespace, context: CommandContext) -> Call:
    facts = (args.status_code, args.fault, args.bytes_received, args.bytes_declared, args.retry_count)
    has_facts = any(fact is not None for fact in facts)
    if args.from_curl is not None:
        if has_facts:
            raise UsageError("--from-curl cannot be combined with other facts")
        with open_input(args.from_curl, context) as stream:
            return parse_curl_report(stream.read(MAX_REPORT_BYTES))
    if not has_facts:
        raise UsageError("no fact about the call is given: give --from-curl, or at least --status-code or --fault")
    outcome = outcome_from_facts(
        args.status_code, fault=args.fault, received=args.bytes_received, declared=args.bytes_declared
    )
    return Call(outcome, args.retry_count or 0)
