"""`freeze-gate sample`: call the sampler once, pin the answer and record the transport."""

import os
import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from freeze_gate.capture.bundle.store import Store, bundle_folder, pin_of, validate_suffix
from freeze_gate.capture.environment import current_run
from freeze_gate.capture.transport.length_checks import make_checks
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.capture.transport.sampler import SamplerRequest, sample
from freeze_gate.capture.transport.selection import validate_pointer
from freeze_gate.commands import CommandContext
from freeze_gate.commands._capture import add_record_arguments, empty_pin_warning, format_pin, format_transport
from freeze_gate.errors import CA_BUNDLES, UsageError
from freeze_gate.version import VERSION

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_FORBIDDEN_IN_HEADER = re.compile(r"[^\t\x20-\x7e\xa0-\xff]")
_FORBIDDEN_IN_URL = re.compile(r"[\x00-\x20\x7f]")
_MAX_SECONDS = 31_622_400  # a year
_MAX_RETRIES = 100

EXAMPLE: Final = "freeze-gate sample --id sorted-patch --url https://api.example.com/v1/sample --data @request.json"
EXIT_CODES: Final = {
    "0": "the transport did its work and a sample is pinned",
    "1": "it did not; the record says why",
    "2": "a wrong argument, or the id already has a pin",
    "3": "the bundle cannot be written",
}


def configure(parser: ArgumentParser) -> None:
    add_record_arguments(parser)
    parser.add_argument("--url", required=True, metavar="URL", help="any http or https endpoint")
    parser.add_argument("--method", default="POST", metavar="METHOD", help="the HTTP method (POST)")
    parser.add_argument("--header", "-H", action="append", default=[], metavar="'K: V'", help="a header; repeatable")
    parser.add_argument(
        "--header-env",
        action="append",
        default=[],
        metavar="K=VARIABLE",
        help="a header whose value is in an environment variable; repeatable",
    )
    parser.add_argument(
        "--data",
        "-d",
        metavar="TEXT|@FILE",
        help="the body; application/json unless a header says otherwise",
    )
    parser.add_argument("--connect-timeout", type=float, default=10, metavar="S", help="seconds to connect (10)")
    parser.add_argument("--read-timeout", type=float, default=120, metavar="S", help="seconds of silence (120)")
    parser.add_argument(
        "--deadline", type=float, default=600, metavar="S", help="seconds for all attempts together (600)"
    )
    parser.add_argument(
        "--retries", type=int, default=0, metavar="N", help="retries while no body byte has arrived (0)"
    )
    parser.add_argument("--min-bytes", type=int, metavar="N", help="a decoded body of fewer bytes is a fault")
    parser.add_argument("--max-bytes", type=int, metavar="N", help="a decoded body of more bytes is a fault")
    parser.add_argument("--ends-with", metavar="TEXT", help="a decoded body that ends differently is a fault")
    parser.add_argument(
        "--error-event",
        action="append",
        default=[],
        metavar="TYPE",
        help="a type of event, beside error and response.failed, that says that a stream failed; repeatable",
    )
    parser.add_argument(
        "--select",
        metavar="POINTER",
        help="JSON pointer to the string in the answer that is the sample, such as /choices/0/message/content",
    )
    parser.add_argument("--suffix", default="", metavar="SUFFIX", help="end of the pinned file's name, such as .json")


def run(args: Namespace, context: CommandContext) -> int:
    """Sample; print the digest and the path, and on stderr what the record says. 0 only if the transport worked."""
    request = _build_request(args, context)
    _require_certificates(args.url, context)
    store = Store(bundle_folder(args.bundle, context.environ))
    before = store.read_unless_checked(args.id)
    if before is not None and before.fixture_sha256 is not None:
        raise UsageError(
            f"{args.id} has its pin already: one call for each id and run. Use another --id for a second sample;"
            " for a new run, delete the bundle folder first"
        )
    recorder = Recorder(
        store,
        args.id,
        current_run(context.environ, context.now()),
        make_checks(args.min_bytes, args.max_bytes, args.ends_with, args.error_event),
        validate_suffix(args.suffix),
        None if args.select is None else validate_pointer(args.select),
    )
    record, failure = sample(recorder, request)
    context.stdout.write(format_pin(pin_of(record)))
    if warning := empty_pin_warning(args.id, pin_of(record)):
        print(f"freeze-gate sample: {warning}", file=context.stderr)
    print(f"freeze-gate sample: {format_transport(record)}", file=context.stderr)
    if record.transport_ok and record.fixture_sha256:
        return 0
    from freeze_gate.commands._sample_failure import explain_failure

    print(f"freeze-gate sample: {explain_failure(request, recorder.latest, failure, args.select)}", file=context.stderr)
    return 1


def _require_certificates(url: str, context: CommandContext) -> None:
    name = next((name for name in CA_BUNDLES if context.environ.get(name)), None)
    if name is None or not url.lower().startswith("https:"):
        return
    path = context.environ[name]
    if not os.access(path, os.R_OK):
        raise UsageError(
            f"{name} is {path!a}: must be a file of certificates that can be read."
            " A container sees no paths of its host"
        )


def _build_request(args: Namespace, context: CommandContext) -> SamplerRequest:
    url, headers = _parse_url(args.url), _read_headers(args, context)
    body = _read_body(args.data, context)
    if body is not None:
        headers.setdefault("content-type", ("Content-Type", "application/json"))
    headers.setdefault("user-agent", ("User-Agent", f"freeze-gate/{VERSION}"))
    headers.setdefault("accept-encoding", ("Accept-Encoding", "gzip"))
    for name in ("connect_timeout", "read_timeout", "deadline"):
        if not 0 < getattr(args, name) <= _MAX_SECONDS:
            raise UsageError(f"--{name.replace('_', '-')} must be a number of seconds above 0")
    if not 0 <= args.retries <= _MAX_RETRIES:
        raise UsageError(f"--retries must be 0 to {_MAX_RETRIES}")
    if not _TOKEN.fullmatch(args.method):
        raise UsageError("--method must be a token such as POST")
    user = None
    if url.username and "authorization" not in headers:
        user = unquote(url.username), unquote(url.password or "")
    return SamplerRequest(
        url=args.url,
        method=args.method.upper(),
        headers=dict(headers.values()),
        body=body,
        connect_timeout=args.connect_timeout,
        read_timeout=args.read_timeout,
        deadline=args.deadline,
        retries=args.retries,
        user=user,
    )


def _read_headers(args: Namespace, context: CommandContext) -> dict[str, tuple[str, str]]:
    """Read both kinds of header, by lower-case name. No message repeats what was given: it may be a secret."""
    headers = {}
    for text in args.header:
        name, colon, value = text.partition(":")
        if not colon:
            raise UsageError("--header must be 'Name: value'")
        headers[name.lower()] = _validate_header("--header", name, value)
    for text in args.header_env:
        name, _, variable = text.partition("=")
        if variable not in context.environ:
            raise UsageError("--header-env must be Name=VARIABLE, and the variable must be set")
        headers[name.lower()] = _validate_header("--header-env", name, context.environ[variable])
    return headers


def _validate_header(option: str, name: str, value: str) -> tuple[str, str]:
    if not _TOKEN.fullmatch(name):
        raise UsageError(f"{option}: the name of a header is letters, digits and hyphens")
    if _FORBIDDEN_IN_HEADER.search(value.strip()):
        raise UsageError(f"{option}: the value of a header may hold no line end and no character beyond Latin-1")
    return name, value.strip()


def _read_body(data: str | None, context: CommandContext) -> bytes | None:
    if data is None or not data.startswith("@"):
        return None if data is None else data.encode("utf-8", "surrogateescape")
    try:
        return context.open_stdin().read() if data == "@-" else Path(data[1:]).read_bytes()
    except OSError as error:
        raise UsageError(f"--data: the file cannot be read: {error.strerror}") from None


def _parse_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        if is_usable and not _FORBIDDEN_IN_URL.search(url):
            return parts
    except ValueError:
        pass
    raise UsageError("--url must be an http or https URL with a host")
