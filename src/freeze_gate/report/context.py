"""What a report shows and no verdict depends on: where links lead, and what the labels and files are called."""

from typing import NamedTuple

from freeze_gate.evidence.side import Side
from freeze_gate.report.escape import code_span, markdown_link


class View(NamedTuple):
    """Names and addresses. `repository` is `owner/name`, None offline: then nothing is linked.

    `docs` is the address of the README, whose headings are the reasons' ids. `policy` names the policy file.
    `notes` are further sentences for the reader, warnings among them; they may quote a stranger.
    """

    server_url: str = "https://github.com"
    repository: str | None = None
    docs: str | None = None
    freeze_label: str = "freeze-request"
    policy: str = ".github/freeze-gate.yml"
    dry_run: bool = False
    notes: tuple[str, ...] = ()

    def address(self, path: str) -> str | None:
        """Return the address of a page of the repository."""
        return f"{self.server_url}/{self.repository}/{path}" if self.repository else None

    def run(self, side: Side) -> str:
        """Name the run and the attempt that a side comes from, as a link where GitHub says which it is."""
        run_id = side.run_id
        if run_id is None:
            return "not known"
        attempt = side.attempt
        words = f"run {run_id}" if attempt is None else f"run {run_id}, attempt {attempt}"
        path = f"actions/runs/{run_id}" if attempt is None else f"actions/runs/{run_id}/attempts/{attempt}"
        return markdown_link(words, self.address(path))

    def reason(self, reason: str) -> str:
        """Name a reason, as a link to what the README says of it."""
        return markdown_link(code_span(reason), f"{self.docs}#{reason}" if self.docs else None)

    def issue(self, number: int) -> str:
        """Name an issue or a pull request of the repository."""
        return markdown_link(f"#{number}", self.address(f"issues/{number}"))
