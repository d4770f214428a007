"""`freeze-gate gate`: builds the clients for one run of the action. Every run ends with the four lines."""

import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from freeze_gate.action.fail_closed import describe_internal_error, finish_without_verdict, termination_handler
from freeze_gate.action.runner import OUTPUTS, TERMINATION_SIGNALS, Runner, termination_deferred
from freeze_gate.commands import CommandContext
from freeze_gate.errors import FreezeGateError, NoVerdictError, describe_shortage

if TYPE_CHECKING:
    from argparse import ArgumentParser


EXAMPLE: Final = "env INPUT_FIRST-ARTIFACT=first INPUT_RERUN-ARTIFACT=rerun INPUT_GITHUB-TOKEN=… freeze-gate gate"
EXIT_CODES: Final = {
    "0": "nothing to block: green pairs, pairs that a freeze mutes, or fail-on: never",
    "1": "the verdict blocks",
    "2": "a wrong input",
    "3": "no verdict could be reached or delivered",
}


def configure(parser: "ArgumentParser") -> None:
    """Declare no arguments: the inputs come from `INPUT_*` variables."""
    parser.description = "Classify the two runs of a job. This is the action: its inputs come from INPUT_* variables."


def run(_args: object, context: CommandContext) -> int:
    """Run the action. The fail-closed outputs are written before anything that takes time, even an import.

    SIGINT and SIGTERM are deferred until their handler is installed, and ignored once the exit code is known.
    """
    runner, folder = Runner(context.environ, context.stdout), None
    try:
        with termination_deferred():
            runner.set_outputs(OUTPUTS)
            folder = _new_folder()
            handler = termination_handler(runner, folder)
            for number in TERMINATION_SIGNALS:
                signal.signal(number, handler)
        return _run_gate(runner, folder, context)
    except FreezeGateError as error:
        return finish_without_verdict(runner, error, context.stderr)
    except Exception as error:  # noqa: BLE001 - a bug must not end without the four lines
        return finish_without_verdict(runner, NoVerdictError(describe_internal_error(error)), context.stderr)
    finally:
        for number in TERMINATION_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _new_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="freeze-gate-"))
    except OSError as error:
        raise NoVerdictError(f"no temporary folder can be made: {describe_shortage(error) or error.strerror}") from None


def _run_gate(runner: Runner, folder: Path, context: CommandContext) -> int:
    from freeze_gate.action.event import read_event
    from freeze_gate.action.inputs import read_inputs
    from freeze_gate.action.network import check_network_settings
    from freeze_gate.action.run import Gate
    from freeze_gate.artifacts.cache import ArtifactCache
    from freeze_gate.artifacts.collect import Collector
    from freeze_gate.files import write_file
    from freeze_gate.github.client import GitHubClient
    from freeze_gate.github.download import ArtifactDownloader
    from freeze_gate.report.context import ReportContext

    inputs, event = read_inputs(context.environ), read_event(context.environ)
    workspace = Path(context.environ.get("GITHUB_WORKSPACE") or ".")
    report_context = ReportContext(
        server_url=event.server_url,
        repository=event.repository,
        docs=_readme_url(context.environ, event.server_url),
        freeze_label=inputs.freeze_label,
        policy=inputs.policy,
        dry_run=inputs.dry_run,
        default_branch=event.default_branch,
    )
    with (
        GitHubClient(
            event.api_url, event.repository, inputs.token, wait_seconds=inputs.wait_seconds, clock=context.clock
        ) as client,
        ArtifactDownloader(client, inputs.max_artifact_bytes) as downloader,
    ):
        check_network_settings(context.environ, workspace, client.api_url)
        artifacts = ArtifactCache(client, downloader, folder, runner.log)
        return Gate(
            inputs=inputs,
            event=event,
            today=context.now().date(),
            client=client,
            artifacts=artifacts,
            collector=Collector(client, artifacts, event.run_id, event.latest_attempt),
            runner=runner,
            report_context=report_context,
            write_verdict=lambda payload: write_file(workspace, inputs.verdict_file, [payload]),
        ).run()


def _readme_url(environ: Mapping[str, str], server_url: str) -> str | None:
    """Return the URL of the README of the action that runs; None for an action in the same repository."""
    repository, ref = environ.get("GITHUB_ACTION_REPOSITORY", ""), environ.get("GITHUB_ACTION_REF", "")
    if re.fullmatch(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+", repository) and re.fullmatch(r"[A-Za-z0-9._/-]+", ref):
        return f"{server_url}/{repository}/blob/{ref}/README.md"
    return None
