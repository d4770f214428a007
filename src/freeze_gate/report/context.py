"""What a report shows but no verdict depends on: the targets of links, and the names of labels and files."""

from typing import Final, NamedTuple

from freeze_gate.evidence.models import Side
from freeze_gate.report.escape import code_span, markdown_link


class ReportContext(NamedTuple):
    """Names and URLs for a report.

    `repository` is `owner/name`; None (offline) means that nothing is linked. `docs` is the URL of the page that has a
    heading for each reason. `policy` is the path of the policy file. `notes` are further sentences for the reader,
    which may quote untrusted text. `default_branch` is where the policy file is edited; None means unknown.
    """

    server_url: str = "https://github.com"
    repository: str | None = None
    docs: str | None = None
    freeze_label: str = "freeze-request"
    policy: str = ".github/freeze-gate.yml"
    dry_run: bool = False
    notes: tuple[str, ...] = ()
    default_branch: str | None = None

    def page_url(self, path: str) -> str | None:
        """Return the URL of a page of the repository; None offline."""
        return f"{self.server_url}/{self.repository}/{path}" if self.repository else None

    def link_run(self, side: Side, words: str | None = None) -> str:
        """Return a link to the run and the attempt that a side comes from, under their numbers or other words."""
        if side.run_id is None:
            return words or "not known"
        text, path = f"run {side.run_id}", f"actions/runs/{side.run_id}"
        if side.attempt is not None:
            text, path = f"{text}, attempt {side.attempt}", f"{path}/attempts/{side.attempt}"
        return markdown_link(words or text, self.page_url(path))

    def link_reason(self, reason: str) -> str:
        """Return a link to the documentation of a reason."""
        return markdown_link(code_span(reason), f"{self.docs}#{reason}" if self.docs else None)

    def link_policy_editor(self, words: str, *, exists: bool) -> str:
        """Return a link to GitHub's editor of the policy file, which a reviewer changes on the default branch."""
        if self.default_branch is None:
            return words
        branch = self.default_branch
        path = f"edit/{branch}/{self.policy}" if exists else f"new/{branch}?filename={self.policy}"
        return markdown_link(words, self.page_url(path))

    def link_issue(self, number: int) -> str:
        """Return a link to an issue or a pull request of the repository."""
        return markdown_link(f"#{number}", self.page_url(f"issues/{number}"))


OFFLINE: Final = ReportContext()
"""Without a repository: nothing is linked."""
