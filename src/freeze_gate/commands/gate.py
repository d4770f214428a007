"""`freeze-gate gate`: builds the real clients for one run of the action, and ends every path in four lines."""

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from freeze_gate.action.fail_closed import bug, on_sigterm, without_verdict
from freeze_gate.action.runner import OUTPUTS, Runner, undisturbed
from freeze_gate.commands import CommandContext
from freeze_gate.errors import FreezeGateError, NoVerdictError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser

_CA_BUNDLES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def configure(parser: "ArgumentParser") -> None:
    """Take no arguments: the inputs come from the `INPUT_*` variables that the runner sets."""
    parser.description = "Judge the two runs of a pull request. Reads the action's inputs from INPUT_* variables."


def run(_args: object, context: CommandContext) -> int:
    """Run the action. The closed outputs are written before anything that takes time, even an import.

    A SIGTERM that comes early waits until there is an answer to it; one that comes when the exit code is known is
    ignored.
    """
    runner, folder = Runner(context.environ, context.stdout), None
    try:
        with undisturbed():
            runner.set_outputs(OUTPUTS)
            folder = _new_folder()
            signal.signal(signal.SIGTERM, on_sigterm(runner, folder))
        return _gate(runner, folder, context)
    except FreezeGateError as error:
        return without_verdict(runner, error, context.stderr)
    except Exception as error:  # noqa: BLE001 - a bug must not end without the four lines, nor with a class
        return without_verdict(runner, NoVerdictError(bug(error)), context.stderr)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _new_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="freeze-gate-"))
    except OSError as error:
        raise NoVerdictError(f"no temporary folder can be made ({error.strerror}): free some space") from None


def _gate(runner: Runner, folder: Path, context: CommandContext) -> int:
    from freeze_gate.action.event import read_event
    from freeze_gate.action.inputs import read_inputs
    from freeze_gate.action.run import Gate
    from freeze_gate.artifacts.cache import ArtifactCache
    from freeze_gate.artifacts.collect import Collector
    from freeze_gate.files import write_file
    from freeze_gate.github.download import Downloads
    from freeze_gate.github.http import Api
    from freeze_gate.report.context import View
    from freeze_gate.shelf import Shelf

    inputs, event = read_inputs(context.environ), read_event(context.environ)
    workspace = Path(context.environ.get("GITHUB_WORKSPACE") or ".")
    _refuse_foreign_trust(context.environ, workspace)
    view = View(
        server_url=event.server_url,
        repository=event.repository,
        docs=_docs(context.environ, event.server_url),
        freeze_label=inputs.freeze_label,
        policy=inputs.policy,
        dry_run=inputs.dry_run,
    )
    with (
        Shelf() as shelf,
        Api(
            event.api_url, event.repository, inputs.token, wait_seconds=inputs.wait_seconds, clock=context.clock
        ) as api,
        Downloads(api, inputs.max_artifact_bytes) as downloads,
    ):
        artifacts = ArtifactCache(api, downloads, folder, shelf, runner.say)
        return Gate(
            inputs=inputs,
            event=event,
            today=context.now().date(),
            api=api,
            artifacts=artifacts,
            collector=Collector(api, artifacts, event.run_id, event.latest_attempt),
            runner=runner,
            view=view,
            write_verdict=lambda payload: write_file(workspace, inputs.verdict_file, payload),
        ).run()


def _refuse_foreign_trust(environ: Mapping[str, str], workspace: Path) -> None:
    """Refuse certificates from the workspace: it is the patch's checkout, and who it trusts could be anybody."""
    inside = {Path(os.path.abspath(workspace)), workspace.resolve()}  # noqa: PTH100 - as named, and as links lead
    for name in _CA_BUNDLES:
        value = environ.get(name)
        places = [Path(os.path.abspath(value)), Path(value).resolve()] if value else []  # noqa: PTH100 - as above
        if any(place.is_relative_to(folder) for place in places for folder in inside):
            raise UsageError(f"{name} is {value!r}, inside the workspace; allowed: a file outside the checkout")


def _docs(environ: Mapping[str, str], server_url: str) -> str | None:
    """Return the address of this action's README, as the runner names the action; None for a local one."""
    repository, ref = environ.get("GITHUB_ACTION_REPOSITORY", ""), environ.get("GITHUB_ACTION_REF", "")
    named = re.fullmatch(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+", repository) and re.fullmatch(r"[A-Za-z0-9._/-]+", ref)
    return f"{server_url}/{repository}/blob/{ref}/README.md" if named else None
