"""Which attempt of a run was going on at a given time, for artifacts that do not say so by their name."""

from freeze_gate.action.event import Event
from freeze_gate.artifacts.select import Candidate
from freeze_gate.github.artifacts import get_attempt, get_run
from freeze_gate.github.failure import ApiError
from freeze_gate.github.http import Api


class Attempts:
    """What GitHub says of the attempts of runs; each is asked for once, and only where nothing else tells."""

    def __init__(self, api: Api, event: Event) -> None:
        self._api = api
        self._newest = {} if event.name == "workflow_run" else {event.run_id: event.run_attempt}
        self._starts: dict[tuple[int, int], str | None] = {}

    def known(self, run_id: int) -> int | None:
        """Return the number of a run's newest attempt, where it is known without a question."""
        return self._newest.get(run_id)

    def newest(self, run_id: int) -> int:
        """Return the number of a run's newest attempt; asks where it is not known. Raises `ApiError`.

        It is known of the gate's own run. An event tells of the attempt of another one that caused it, and says the
        same when the gate is run again, however many attempts have begun since.
        """
        if run_id not in self._newest:
            self._newest[run_id] = get_run(self._api, run_id).attempt
        return self._newest[run_id]

    def at(self, run_id: int, created_at: str | None) -> int | None:
        """Return the attempt in whose time window an artifact was created; None where that is not certain.

        All times are UTC to the second, so an upload in the very second of a start has two answers: None. Raises
        `ApiError`.
        """
        if created_at is None:
            return None
        least, most = 1, self.newest(run_id)
        probed = most  # the likeliest, then halves
        while least < most:
            started = self._start(run_id, probed)
            if started is None or started == created_at:
                return None
            least, most = (probed, most) if started < created_at else (least, probed - 1)
            probed = (least + most + 1) // 2
        return least

    def of(self, candidate: Candidate, run_id: int) -> int | None:
        """Return the attempt of a candidate as GitHub tells it: by its name, else by the time of its upload.

        Of a run that was not asked about only names are known. Raises `ApiError`.
        """
        if candidate.attempt or not self.known(run_id):
            return candidate.attempt
        return self.at(run_id, candidate.artifact.created_at)

    def _start(self, run_id: int, attempt: int) -> str | None:
        if (run_id, attempt) not in self._starts:
            self._starts[run_id, attempt] = self._asked(run_id, attempt)
        return self._starts[run_id, attempt]

    def _asked(self, run_id: int, attempt: int) -> str | None:
        """Ask when an attempt began. The token has listed the run's artifacts: what is not found, nobody can know."""
        try:
            return get_attempt(self._api, run_id, attempt).started_at
        except ApiError as error:
            if error.kind != "not-found":
                raise
            return None
