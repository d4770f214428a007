"""`freeze-gate sample`: call the sampler once, pin the answer and record the transport."""

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from freeze_gate.capture.bundle.store import Store, bundle_folder, conflicting_sample, pin_of, validate_suffix
from freeze_gate.capture.environment import current_run
from freeze_gate.capture.transport.length_checks import make_checks
from freeze_gate.capture.transport.recorder import Recorder
from freeze_gate.capture.transport.sampler import SamplerRequest, sample
from freeze_gate.commands import CommandContext
from freeze_gate.commands._output import format_pin, format_transport
from freeze_gate.errors import UsageError
from freeze_gate.version import VERSION

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_ODD = re.compile(r"[^\t\x20-\x7e\xa0-\xff]")
_ODD_URL = re.compile(r"[\x00-\x20\x7f]")
_LONGEST = 31_622_400  # seconds
_MOST_RETRIES = 100


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--id", required=True, metavar="ID", help="the fixture id")
    parser.add_argument("--bundle", metavar="DIR", help="the bundle's folder (FREEZE_GATE_BUNDLE, else freeze-gate)")
    parser.add_argument("--url", required=True, metavar="URL", help="any http or https endpoint")
    parser.add_argument("--method", default="POST", metavar="METHOD", help="POST unless given")
    parser.add_argument("--header", "-H", action="append", default=[], metavar="'K: V'", help="a header; repeatable")
    parser.add_argument(
        "--header-env",
        action="append",
        default=[],
        metavar="K=VARIABLE",
        help="a header whose value is in an environment variable; repeatable",
    )
    parser.add_argument(
        "--data", "-d", metavar="TEXT|@FILE", help="the body; application/json unless a header says else"
    )
    parser.add_argument("--connect-timeout", type=float, default=10, metavar="S", help="seconds to connect (10)")
    parser.add_argument("--read-timeout", type=float, default=120, metavar="S", help="seconds of silence (120)")
    parser.add_argument(
        "--deadline", type=float, default=600, metavar="S", help="seconds for all attempts together (600)"
    )
    parser.add_argument("--retries", type=int, default=0, metavar="N", help="further attempts before any body byte (0)")
    parser.add_argument("--min-bytes", type=int, metavar="N", help="fewer bytes of decoded body are a fault")
    parser.add_argument("--max-bytes", type=int, metavar="N", help="more bytes are a fault")
    parser.add_argument("--ends-with", metavar="TEXT", help="a body that ends with anything else is a fault")
    parser.add_argument("--suffix", default="", metavar="SUFFIX", help="how the pinned file's name ends, such as .json")


def run(args: Namespace, context: CommandContext) -> int:
    """Sample, print the digest and the path, and say on stderr how it went. 0 only if the transport held."""
    request = _request(args, context)
    store = Store(bundle_folder(args.bundle, context.environ))
    before = store.read_unless_checked(args.id)
    if before is not None and before.fixture_sha256 is not None:
        raise UsageError(conflicting_sample(args.id))
    recorder = Recorder(
        store,
        args.id,
        current_run(context.environ, context.now()),
        make_checks(args.min_bytes, args.max_bytes, args.ends_with),
        validate_suffix(args.suffix),
    )
    record = sample(recorder, request)
    context.stdout.write(format_pin(pin_of(record)))
    print(f"freeze-gate sample: {format_transport(record)}", file=context.stderr)
    return 0 if record.transport_ok and record.fixture_sha256 else 1


def _request(args: Namespace, context: CommandContext) -> SamplerRequest:
    headers = _headers(args, context)
    body = _body(args.data, context)
    if body is not None:
        headers.setdefault("content-type", ("Content-Type", "application/json"))
    headers.setdefault("user-agent", ("User-Agent", f"freeze-gate/{VERSION}"))
    headers.setdefault("accept-encoding", ("Accept-Encoding", "gzip"))
    for name in ("connect_timeout", "read_timeout", "deadline"):
        if not 0 < getattr(args, name) <= _LONGEST:
            raise UsageError(f"--{name.replace('_', '-')} must be a number of seconds above 0")
    if not 0 <= args.retries <= _MOST_RETRIES:
        raise UsageError(f"--retries must be 0 to {_MOST_RETRIES}")
    if not _TOKEN.fullmatch(args.method):
        raise UsageError("--method is not a word such as POST")
    return SamplerRequest(
        url=_url(args.url),
        method=args.method.upper(),
        headers=dict(headers.values()),
        body=body,
        connect_timeout=args.connect_timeout,
        read_timeout=args.read_timeout,
        deadline=args.deadline,
        retries=args.retries,
        user=None if "authorization" in headers else _user(args.url),
    )


def _headers(args: Namespace, context: CommandContext) -> dict[str, tuple[str, str]]:
    """Read both kinds of header, by lower-case name. No message repeats what was given: it may be a secret."""
    found = {}
    for text in args.header:
        name, colon, value = text.partition(":")
        if not colon:
            raise UsageError("--header must be 'Name: value'")
        found[name.lower()] = _header("--header", name, value)
    for text in args.header_env:
        name, _, variable = text.partition("=")
        if variable not in context.environ:
            raise UsageError("--header-env must be Name=VARIABLE, and the variable must be set")
        found[name.lower()] = _header("--header-env", name, context.environ[variable])
    return found


def _header(option: str, name: str, value: str) -> tuple[str, str]:
    if not _TOKEN.fullmatch(name):
        raise UsageError(f"{option}: the name of a header is letters, digits and hyphens")
    if _ODD.search(value.strip()):
        raise UsageError(f"{option}: the value of a header may hold no line end and no character beyond Latin-1")
    return name, value.strip()


def _body(data: str | None, context: CommandContext) -> bytes | None:
    if data is None or not data.startswith("@"):
        return None if data is None else data.encode("utf-8", "surrogateescape")
    try:
        return context.stdin.read() if data == "@-" else Path(data[1:]).read_bytes()
    except OSError as error:
        raise UsageError(f"--data: the file cannot be read: {error.strerror}") from None


def _url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or _ODD_URL.search(url):
        raise UsageError("--url must be an http or https URL with a host")
    return url


def _user(url: str) -> tuple[str, str] | None:
    parts = urlsplit(url)
    return (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
