"""Which attempt of a run made an artifact, as GitHub tells it: by the artifact's name, else by its time."""

from collections.abc import Mapping

from freeze_gate.artifacts.select import Candidate
from freeze_gate.github.artifacts import get_attempt, get_run
from freeze_gate.github.client import GitHubClient
from freeze_gate.github.errors import NotFound


class RunAttempts:
    """The attempts of runs. GitHub is asked only for what nothing else tells, and once.

    `latest` has the number of the latest attempt of each run where it is known without asking.
    """

    def __init__(self, client: GitHubClient, latest: Mapping[int, int]) -> None:
        self._client = client
        self._latest = dict(latest)
        self._starts: dict[tuple[int, int], str | None] = {}

    def known_latest(self, run_id: int) -> int | None:
        """Return the number of a run's latest attempt if it is known without asking GitHub."""
        return self._latest.get(run_id)

    def latest(self, run_id: int) -> int:
        """Return the number of a run's latest attempt. Raises `ApiError`."""
        if run_id not in self._latest:
            self._latest[run_id] = get_run(self._client, run_id).attempt
        return self._latest[run_id]

    def attempt_at(self, run_id: int, created_at: str | None) -> int | None:
        """Return the attempt that was running when an artifact was created; None if that is not certain.

        All times are UTC to the second, so an upload in the very second of a start has two answers. Raises `ApiError`.
        """
        if created_at is None:
            return None
        low, high = 1, self.latest(run_id)
        probe = high  # the latest is the likeliest; after that, halves
        while low < high:
            started_at = self._start(run_id, probe)
            if started_at is None or started_at == created_at:
                return None
            if started_at < created_at:
                low = probe
            else:
                high = probe - 1
            probe = (low + high + 1) // 2
        return low

    def attempt_of(self, candidate: Candidate, run_id: int) -> int | None:
        """Return the attempt of a candidate: by its name, else by its time if the run's latest attempt is known.

        Raises `ApiError`.
        """
        if candidate.attempt or not self.known_latest(run_id):
            return candidate.attempt
        return self.attempt_at(run_id, candidate.artifact.created_at)

    def _start(self, run_id: int, attempt: int) -> str | None:
        """Return when an attempt started. The token could list the run's artifacts, so "not found" means unknown."""
        if (run_id, attempt) not in self._starts:
            try:
                self._starts[run_id, attempt] = get_attempt(self._client, run_id, attempt).started_at
            except NotFound:
                self._starts[run_id, attempt] = None
        return self._starts[run_id, attempt]
