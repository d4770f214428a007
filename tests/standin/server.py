"""The stand-in as tests hold it: two ports, one state, and a log of all that was asked."""

import itertools
import time
from collections.abc import Callable
from typing import Self

from tests.standin.artifact_service import SERVICE, ArtifactService
from tests.standin.faults import Fault, Faults
from tests.standin.http_server import Listener, Reply, Request
from tests.standin.rate_limit import Limit
from tests.standin.rest import Rest
from tests.standin.serializers import Serializers
from tests.standin.state import Grant, Repository, utc
from tests.standin.storage import Storage

TOKEN = "ghs_standin"


class Standin:
    """A GitHub on this machine.

    The API listens on `host` under `name`, the blob host on a second port under `blob_name`: two host names, as in
    real life. `port` and `blob_port` are drawn unless they are given. `prefix` is what an enterprise server has in
    front (`/api/v3`). `epoch` is the clock by which limits and links expire. `server_url` serves as
    `ACTIONS_RESULTS_URL`, with a token of `results`.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        name: str = "127.0.0.1",
        blob_name: str = "localhost",
        port: int = 0,
        blob_port: int = 0,
        prefix: str = "",
        epoch: Callable[[], float] = time.time,
    ) -> None:
        self.epoch = epoch
        self.log: list[Request] = []
        self.faults = Faults()
        self.limit = Limit(epoch)
        self.storage = Storage(epoch)
        self.results = ArtifactService(self.storage, self.now)
        self.token = TOKEN
        self._ids = itertools.count(10_338_734_800)
        self._blob = Listener("blob", (host, blob_port), self.storage.answer, self.faults, log=self.log, epoch=epoch)
        self.storage.address = f"http://{blob_name}:{self._blob.port}"
        self._api = Listener("api", (host, port), self._answer, self.faults, log=self.log, epoch=epoch)
        self.server_url = f"http://{name}:{self._api.port}"
        self.url = self.server_url + prefix
        self.rest = Rest(Serializers(self.url, self.server_url), self.limit, self.storage, prefix, self.now)
        self.rest.grants[TOKEN] = Grant()

    def __enter__(self) -> Self:
        """Use as a context manager to stop the servers."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Stop the servers."""
        self.close()

    def close(self) -> None:
        """Stop the servers."""
        self._api.close()
        self._blob.close()

    def _answer(self, request: Request) -> Reply:
        return self.results.answer(request) if request.path.startswith(SERVICE) else self.rest.answer(request)

    def now(self) -> str:
        """Return the time as GitHub writes it."""
        return utc(self.epoch())

    def repository(
        self, full_name: str = "octo-org/widgets", *, private: bool = True, fork: bool = False
    ) -> Repository:
        """Return the repository of that name; it is made where there is none."""
        known = self.rest.repositories.get(full_name.lower())
        if known is None:
            known = Repository(next(self._ids), full_name, self._ids, self.now, private=private, fork=fork)
            known.add_file("README.md", b"# Widgets\n")
            self.rest.repositories[full_name.lower()] = known
        return known

    def rename(self, old_name: str, new_name: str) -> None:
        """Rename a repository: calls by the old name are redirected to its id."""
        repository = self.rest.repositories.pop(old_name.lower())
        repository.full_name = new_name
        self.rest.repositories[new_name.lower()] = self.rest.renamed[old_name.lower()] = repository

    def grant(self, token: str, grant: Grant) -> str:
        """Make a token good for what the grant says, and return it."""
        self.rest.grants[token] = grant
        return token

    def fault(self, fault: Fault) -> Fault:
        """Plan trouble."""
        return self.faults.add(fault)

    def asked(self, host: str = "api") -> list[str]:
        """Name the requests that arrived at `api` or `blob`, in order: `GET /repos/…`."""
        return [f"{request.method} {request.path}" for request in self.log if request.host == host]
