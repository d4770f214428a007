"""What the stand-in knows: repositories with runs, artifacts, pull requests, issues, labels and files.

Times are UTC texts such as `2026-11-29T12:00:00Z`. Ids are drawn from one counter unless they are given.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

LEVELS = ("none", "read", "write")


@dataclass
class Grant:
    """What a token may do, as a `permissions:` block says it. `push` is what labels on a new issue need."""

    login: str = "github-actions[bot]"
    actions: str = "read"
    contents: str = "read"
    issues: str = "write"
    pull_requests: str = "write"
    push: bool = True
    repositories: tuple[str, ...] | None = None

    def allows(self, permission: str, level: str) -> bool:
        """Whether the grant reaches the level."""
        return LEVELS.index(getattr(self, permission)) >= LEVELS.index(level)

    def covers(self, repository: "Repository") -> bool:
        """Whether the token was made for the repository."""
        return self.repositories is None or repository.full_name in self.repositories


@dataclass
class Label:
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass
class Issue:
    """An issue, or the issue side of a pull request. `labels` are names; `indexed` is what the label filter knows."""

    id: int
    number: int
    title: str
    body: str | None
    author: str | None
    created_at: str
    updated_at: str
    labels: list[str] = field(default_factory=list)
    indexed: list[str] = field(default_factory=list)
    state: str = "open"
    state_reason: str | None = None
    closed_at: str | None = None
    pull: "Pull | None" = field(default=None, repr=False)


@dataclass
class Pull:
    """What a pull request has beyond its issue. `head_repository` is None where the fork was deleted."""

    issue: Issue
    head_ref: str
    head_sha: str
    head_repository: "Repository | None" = field(repr=False)
    base_ref: str
    merged: bool = False

    @property
    def number(self) -> int:
        """The number that it shares with its issue."""
        return self.issue.number


@dataclass
class Artifact:
    """An artifact. `content` is the zip, in memory or on disk; `listed_after` hides it from that many listings.

    With `unlisted`, GitHub counts it and never lists it. `description` replaces fields of what GitHub says of it.
    """

    id: int
    name: str
    run: "Run" = field(repr=False)
    content: bytes | Path = field(repr=False)
    digest: str | None
    size: int
    created_at: str
    expired: bool = False
    gone: bool = False
    listed_after: int = 0
    unlisted: bool = False
    description: dict[str, Any] = field(default_factory=dict)


class WorkflowJob(NamedTuple):
    """A job of an attempt of a run, and how it ended; None is not yet."""

    name: str
    attempt: int
    conclusion: str | None = None


@dataclass
class Run:
    """A workflow run. `attempts` are the times at which its attempts began, the first one first."""

    id: int
    repository: "Repository" = field(repr=False)
    head_sha: str
    head_branch: str
    head_repository: "Repository" = field(repr=False)
    event: str
    attempts: list[str]
    artifacts: list[Artifact] = field(default_factory=list)
    jobs: list[WorkflowJob] = field(default_factory=list)

    def add_artifact(
        self,
        name: str,
        content: bytes | Path,
        *,
        id: int | None = None,  # noqa: A002 - GitHub's word
        attempt: int | None = None,
        created_at: str | None = None,
        digest: str | None = "",
        size: int | None = None,
        expired: bool = False,
        gone: bool = False,
        listed_after: int = 0,
        unlisted: bool = False,
        description: dict[str, Any] | None = None,
    ) -> Artifact:
        """Store an artifact.

        Without `created_at` it is of the moment at which `attempt` (the newest unless given) began. The digest is
        that of the content unless it is given (None: not published). `expired` marks it; `gone` answers 410.
        """
        observed, length = _observed(content)
        started = self.attempts[(attempt or len(self.attempts)) - 1]
        artifact = Artifact(
            id=id or self.repository.next_id(),
            name=name,
            run=self,
            content=content,
            digest=f"sha256:{observed}" if digest == "" else digest,
            size=length if size is None else size,
            created_at=created_at or started,
            expired=expired,
            gone=gone or expired,
            listed_after=listed_after,
            unlisted=unlisted,
            description=description or {},
        )
        self.artifacts.append(artifact)
        return artifact


@dataclass
class Repository:
    """A repository. `label_index_lags` freezes what the label filter of the issue listing knows, until `index()`.

    `label_races` is how often somebody else creates a label in the moment in which GitHub was about to create it.
    """

    id: int
    full_name: str
    ids: Iterator[int] = field(repr=False)
    now: Callable[[], str] = field(repr=False)
    private: bool = True
    fork: bool = False
    default_branch: str = "main"
    has_issues: bool = True
    archived: bool = False
    label_races: int = 0
    label_index_lags: bool = False
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)

    @property
    def owner(self) -> str:
        """The part before the slash."""
        return self.full_name.split("/")[0]

    @property
    def name(self) -> str:
        """The part after the slash."""
        return self.full_name.split("/")[1]

    def next_id(self) -> int:
        """Draw an id."""
        return next(self.ids)

    def add_run(
        self,
        id: int | None = None,  # noqa: A002 - GitHub's word
        *,
        head_sha: str = "c" * 40,
        head_branch: str = "patch",
        head_repository: "Repository | None" = None,
        event: str = "pull_request",
        attempts: Sequence[str] = ("2026-11-29T08:00:00Z",),
    ) -> Run:
        """Add a run."""
        run = Run(id or self.next_id(), self, head_sha, head_branch, head_repository or self, event, list(attempts))
        self.runs[run.id] = run
        return run

    def add_issue(
        self,
        title: str = "An issue",
        body: str | None = "Words.",
        *,
        author: str | None = "somebody",
        labels: Sequence[str] = (),
        state: str = "open",
        state_reason: str | None = None,
        number: int | None = None,
    ) -> Issue:
        """Open an issue, with labels that are created where there are none."""
        now = self.now()
        issue = Issue(self.next_id(), number or self._next_number(), title, body, author, now, now)
        issue.state, issue.state_reason = state, state_reason
        issue.closed_at = now if state == "closed" else None
        self.issues[issue.number] = issue
        self.set_labels(issue, labels)
        return issue

    def add_pull(
        self,
        *,
        number: int | None = None,
        head_ref: str = "patch",
        head_sha: str = "c" * 40,
        head_repository: "Repository | None" = None,
        head_deleted: bool = False,
        base_ref: str | None = None,
        state: str = "open",
        labels: Sequence[str] = (),
        author: str = "somebody",
    ) -> Pull:
        """Open a pull request, from a fork where `head_repository` is one."""
        issue = self.add_issue("A patch", author=author, labels=labels, state=state, number=number)
        head = None if head_deleted else head_repository or self
        issue.pull = Pull(issue, head_ref, head_sha, head, base_ref or self.default_branch)
        self.pulls[issue.number] = issue.pull
        return issue.pull

    def add_file(self, path: str, payload: bytes, *, branch: str | None = None) -> None:
        """Put a file on a branch, the default one unless it is named."""
        self.files.setdefault(branch or self.default_branch, {})[path] = payload

    def add_label(self, name: str, color: str = "ededed", description: str | None = None) -> Label:
        """Create a label; one of that name, whatever its case, is kept as it is."""
        return self.labels.setdefault(name.lower(), Label(self.next_id(), name, color, description))

    def set_labels(self, issue: Issue, names: Sequence[str]) -> None:
        """Add labels to an issue."""
        for name in names:
            label = self.add_label(name).name
            if label not in issue.labels:
                issue.labels.append(label)
        if not self.label_index_lags:
            issue.indexed = list(issue.labels)

    def index(self) -> None:
        """Let the label filter catch up."""
        for issue in self.issues.values():
            issue.indexed = list(issue.labels)

    def _next_number(self) -> int:
        return max(self.issues, default=0) + 1


def _observed(content: bytes | Path) -> tuple[str, int]:
    """Return digest and size, without holding a file in memory."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest(), len(content)
    with content.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest(), content.stat().st_size


def utc(epoch: float) -> str:
    """Write a time as GitHub does."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
