"""How GitHub writes down what it knows: every field that its published description requires, made from the state."""

import base64
import hashlib
from typing import Any, Final

from tests.standin.state import Artifact, Issue, Label, Pull, Repository, Run, WorkflowJob

_USER_PARTS: Final = [
    "followers",
    "following{/other_user}",
    "gists{/gist_id}",
    "starred{/owner}{/repo}",
    "subscriptions",
    "orgs",
    "repos",
    "events{/privacy}",
    "received_events",
]
_USER_KEYS: Final = [
    "followers_url",
    "following_url",
    "gists_url",
    "starred_url",
    "subscriptions_url",
    "organizations_url",
    "repos_url",
    "events_url",
    "received_events_url",
]
_REPOSITORY_URLS: Final = {
    "archive_url": "{archive_format}{/ref}",
    "assignees_url": "assignees{/user}",
    "blobs_url": "git/blobs{/sha}",
    "branches_url": "branches{/branch}",
    "collaborators_url": "collaborators{/collaborator}",
    "comments_url": "comments{/number}",
    "commits_url": "commits{/sha}",
    "compare_url": "compare/{base}...{head}",
    "contents_url": "contents/{+path}",
    "contributors_url": "contributors",
    "deployments_url": "deployments",
    "downloads_url": "downloads",
    "events_url": "events",
    "forks_url": "forks",
    "git_commits_url": "git/commits{/sha}",
    "git_refs_url": "git/refs{/sha}",
    "git_tags_url": "git/tags{/sha}",
    "hooks_url": "hooks",
    "issue_comment_url": "issues/comments{/number}",
    "issue_events_url": "issues/events{/number}",
    "issues_url": "issues{/number}",
    "keys_url": "keys{/key_id}",
    "labels_url": "labels{/name}",
    "languages_url": "languages",
    "merges_url": "merges",
    "milestones_url": "milestones{/number}",
    "notifications_url": "notifications{?since,all,participating}",
    "pulls_url": "pulls{/number}",
    "releases_url": "releases{/id}",
    "stargazers_url": "stargazers",
    "statuses_url": "statuses/{sha}",
    "subscribers_url": "subscribers",
    "subscription_url": "subscription",
    "tags_url": "tags",
    "teams_url": "teams",
    "trees_url": "git/trees{/sha}",
}
_EPOCH: Final = "2026-01-01T00:00:00Z"


def _node(kind: str, number: int) -> str:
    return base64.b64encode(f"{kind}{number}".encode()).decode()


class Serializers:
    """Writes down objects. `api` and `web` are the two addresses that links begin with, without a slash at the end."""

    def __init__(self, api: str, web: str) -> None:
        self.api = api
        self.web = web

    def user(self, login: str | None) -> dict[str, Any] | None:
        """Describe an account; None for one that was deleted."""
        if login is None:
            return None
        url = f"{self.api}/users/{login}"
        bot = login.endswith("[bot]")
        number = int(hashlib.sha256(login.encode()).hexdigest()[:7], 16)
        return {
            "login": login,
            "id": number,
            "node_id": _node("User", number),
            "avatar_url": f"{self.web}/avatars/{number}",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.web}/apps/{login[:-5]}" if bot else f"{self.web}/{login}",
            "type": "Bot" if bot else "User",
            "site_admin": False,
            **{key: f"{url}/{part}" for key, part in zip(_USER_KEYS, _USER_PARTS, strict=True)},
        }

    def repository(self, repository: Repository, *, full: bool = False) -> dict[str, Any]:
        """Describe a repository; `full` adds what stands in a pull request's two ends."""
        url = f"{self.api}/repos/{repository.full_name}"
        minimal = {
            "id": repository.id,
            "node_id": _node("Repository", repository.id),
            "name": repository.name,
            "full_name": repository.full_name,
            "private": repository.private,
            "owner": self.user(repository.owner),
            "html_url": f"{self.web}/{repository.full_name}",
            "description": None,
            "fork": repository.fork,
            "url": url,
            **{key: f"{url}/{part}" for key, part in _REPOSITORY_URLS.items()},
        }
        return {**minimal, **self._repository_rest(repository)} if full else minimal

    def _repository_rest(self, repository: Repository) -> dict[str, Any]:
        web = f"{self.web}/{repository.full_name}"
        counts = [
            "network_count",
            "subscribers_count",
            "forks",
            "forks_count",
            "open_issues",
            "open_issues_count",
            "size",
            "stargazers_count",
            "watchers",
            "watchers_count",
        ]
        has = ["has_discussions", "has_downloads", "has_projects", "has_wiki", "has_pages", "archived", "disabled"]
        return {
            **dict.fromkeys(counts, 0),
            **dict.fromkeys(has, False),
            **dict.fromkeys(("homepage", "language", "mirror_url", "license"), None),
            "has_issues": repository.has_issues,
            "clone_url": f"{web}.git",
            "git_url": f"git:{web.split(':', 1)[1]}.git",
            "ssh_url": f"git@github.com:{repository.full_name}.git",
            "svn_url": web,
            "default_branch": repository.default_branch,
            "pushed_at": _EPOCH,
            "created_at": _EPOCH,
            "updated_at": _EPOCH,
        }

    def artifact(self, artifact: Artifact) -> dict[str, Any]:
        """Describe an artifact: nothing in it names the attempt."""
        url = f"{self.api}/repos/{artifact.run.repository.full_name}/actions/artifacts/{artifact.id}"
        return {
            "id": artifact.id,
            "node_id": _node("Artifact", artifact.id),
            "name": artifact.name,
            "size_in_bytes": artifact.size,
            "url": url,
            "archive_download_url": f"{url}/zip",
            "expired": artifact.expired,
            "digest": artifact.digest,
            "created_at": artifact.created_at,
            "updated_at": artifact.created_at,
            "expires_at": "2027-02-27T08:00:00Z",
            "workflow_run": {
                "id": artifact.run.id,
                "repository_id": artifact.run.repository.id,
                "head_repository_id": artifact.run.head_repository.id,
                "head_branch": artifact.run.head_branch,
                "head_sha": artifact.run.head_sha,
            },
            **artifact.description,
        }

    def job(self, run: Run, job: WorkflowJob) -> dict[str, Any]:
        """Describe a job of a run, as far as anybody here asks."""
        return {
            "id": run.id * 1_000 + run.jobs.index(job),
            "run_id": run.id,
            "run_attempt": job.attempt,
            "head_sha": run.head_sha,
            "name": job.name,
            "status": "in_progress" if job.conclusion is None else "completed",
            "conclusion": job.conclusion,
        }

    def run(self, run: Run, attempt: int) -> dict[str, Any]:
        """Describe a run as one of its attempts."""
        url = f"{self.api}/repos/{run.repository.full_name}/actions/runs/{run.id}"
        person = {"name": "Some Body", "email": "somebody@example.com"}
        urls = ["jobs", "logs", "cancel", "rerun", "artifacts"]
        previous = f"{url}/attempts/{attempt - 1}" if attempt > 1 else None
        return {
            "id": run.id,
            "node_id": _node("WorkflowRun", run.id),
            "name": "CI",
            "display_title": "A patch",
            "path": ".github/workflows/ci.yml",
            "run_number": 1,
            "run_attempt": attempt,
            "run_started_at": run.attempts[attempt - 1],
            "previous_attempt_url": previous,
            "event": run.event,
            "status": "in_progress",
            "conclusion": None,
            "head_branch": run.head_branch,
            "head_sha": run.head_sha,
            "head_commit": {
                "id": run.head_sha,
                "tree_id": run.head_sha,
                "message": "Patch",
                "timestamp": run.attempts[0],
                "author": person,
                "committer": person,
            },
            "repository": self.repository(run.repository),
            "head_repository": self.repository(run.head_repository),
            "workflow_id": 1,
            "check_suite_id": run.id,
            "url": url,
            "html_url": f"{self.web}/{run.repository.full_name}/actions/runs/{run.id}",
            "workflow_url": f"{self.api}/repos/{run.repository.full_name}/actions/workflows/1",
            "check_suite_url": f"{self.api}/repos/{run.repository.full_name}/check-suites/{run.id}",
            **{f"{name}_url": f"{url}/{name}" for name in urls},
            "pull_requests": [],
            "created_at": run.attempts[0],
            "updated_at": run.attempts[attempt - 1],
        }

    def label(self, repository: Repository, label: Label) -> dict[str, Any]:
        """Describe a label."""
        return {
            "id": label.id,
            "node_id": _node("Label", label.id),
            "url": f"{self.api}/repos/{repository.full_name}/labels/{label.name.replace(' ', '%20')}",
            "name": label.name,
            "description": label.description,
            "color": label.color,
            "default": False,
        }

    def labels(self, repository: Repository, issue: Issue) -> list[dict[str, Any]]:
        """Describe the labels of an issue."""
        return [self.label(repository, repository.labels[name.lower()]) for name in issue.labels]

    def issue(self, repository: Repository, issue: Issue) -> dict[str, Any]:
        """Describe an issue; a pull request is one too, with a key of its own."""
        url = f"{self.api}/repos/{repository.full_name}/issues/{issue.number}"
        web = f"{self.web}/{repository.full_name}"
        described = {
            "id": issue.id,
            "node_id": _node("Issue", issue.id),
            "number": issue.number,
            "title": issue.title,
            "body": issue.body,
            "user": self.user(issue.author),
            "state": issue.state,
            "state_reason": issue.state_reason,
            "labels": self.labels(repository, issue),
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "locked": False,
            "comments": 0,
            "author_association": "NONE",
            "url": url,
            "repository_url": f"{self.api}/repos/{repository.full_name}",
            "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "html_url": f"{web}/{'pull' if issue.pull else 'issues'}/{issue.number}",
            "created_at": issue.created_at,
            "updated_at": issue.updated_at,
            "closed_at": issue.closed_at,
        }
        if issue.pull:
            pull = f"{web}/pull/{issue.number}"
            described["pull_request"] = {
                "url": f"{self.api}/repos/{repository.full_name}/pulls/{issue.number}",
                "html_url": pull,
                "diff_url": f"{pull}.diff",
                "patch_url": f"{pull}.patch",
                "merged_at": None,
            }
        return described

    def pull(self, repository: Repository, pull: Pull, *, full: bool) -> dict[str, Any]:
        """Describe a pull request; `full` adds what only the single one carries."""
        issue = self.issue(repository, pull.issue)
        url = f"{self.api}/repos/{repository.full_name}/pulls/{pull.number}"
        web = f"{self.web}/{repository.full_name}/pull/{pull.number}"
        kept = [
            "id",
            "node_id",
            "number",
            "title",
            "body",
            "user",
            "state",
            "labels",
            "assignee",
            "assignees",
            "milestone",
            "locked",
            "author_association",
            "created_at",
            "updated_at",
            "closed_at",
            "comments_url",
        ]
        described = {
            **{key: issue[key] for key in kept},
            "url": url,
            "html_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "issue_url": issue["url"],
            "commits_url": f"{url}/commits",
            "review_comments_url": f"{url}/comments",
            "review_comment_url": f"{url}/comments{{/number}}",
            "statuses_url": f"{self.api}/repos/{repository.full_name}/statuses/{pull.head_sha}",
            "head": self._end(pull.head_ref, pull.head_sha, pull.head_repository),
            "base": self._end(pull.base_ref, "b" * 40, repository),
            "merge_commit_sha": None,
            "merged_at": None,
            "auto_merge": None,
            "draft": False,
        }
        described["_links"] = {
            name: {"href": described[key]}
            for name, key in {
                "self": "url",
                "html": "html_url",
                "issue": "issue_url",
                "comments": "comments_url",
                "review_comments": "review_comments_url",
                "review_comment": "review_comment_url",
                "commits": "commits_url",
                "statuses": "statuses_url",
            }.items()
        }
        return {**described, **_PULL_REST, "merged": pull.merged} if full else described

    def _end(self, ref: str, sha: str, repository: Repository | None) -> dict[str, Any]:
        return {
            "label": f"{repository.owner if repository else 'ghost'}:{ref}",
            "ref": ref,
            "sha": sha,
            "user": self.user(repository.owner if repository else None),
            "repo": self.repository(repository, full=True) if repository else None,
        }

    def entry(self, repository: Repository, path: str, payload: bytes | None) -> dict[str, Any]:
        """Describe one entry of a folder; a payload of None is a folder."""
        kind = "dir" if payload is None else "file"
        sha = blob_sha(payload if payload is not None else path.encode())
        url = f"{self.api}/repos/{repository.full_name}/contents/{path}?ref={repository.default_branch}"
        web = f"{self.web}/{repository.full_name}/{'tree' if payload is None else 'blob'}/main/{path}"
        git = f"{self.api}/repos/{repository.full_name}/git/{'trees' if payload is None else 'blobs'}/{sha}"
        return {
            "type": kind,
            "name": path.rpartition("/")[2],
            "path": path,
            "sha": sha,
            "size": len(payload or b""),
            "url": url,
            "html_url": web,
            "git_url": git,
            "download_url": None if payload is None else f"{web}?raw=1",
            "_links": {"self": url, "git": git, "html": web},
        }

    def file(self, repository: Repository, path: str, payload: bytes) -> dict[str, Any]:
        """Describe one file with its content, in base64 with a line end after each 60 characters."""
        large = len(payload) > 1 << 20
        text = "" if large else base64.b64encode(payload).decode()
        content = "".join(f"{text[at : at + 60]}\n" for at in range(0, len(text), 60))
        entry = self.entry(repository, path, payload)
        return {**entry, "content": content, "encoding": "none" if large else "base64"}


_PULL_REST: Final = {
    "additions": 1,
    "deletions": 1,
    "changed_files": 1,
    "commits": 1,
    "comments": 0,
    "review_comments": 0,
    "maintainer_can_modify": False,
    "mergeable": True,
    "mergeable_state": "clean",
    "rebaseable": True,
    "merged_by": None,
}


def blob_sha(payload: bytes) -> str:
    """Compute the id that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0%s" % (len(payload), payload), usedforsecurity=False).hexdigest()
