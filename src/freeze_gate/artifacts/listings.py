"""Which artifacts the runs have: each run is listed once, and again while what was named is not there."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from freeze_gate.action.inputs import ATTEMPT, Wanted
from freeze_gate.artifacts.attempts import Attempts
from freeze_gate.artifacts.select import Slot, slots_of_name
from freeze_gate.evidence.checks import FIRST
from freeze_gate.evidence.side import Artifact, Fault
from freeze_gate.github.artifacts import get_artifact, list_artifacts
from freeze_gate.github.http import Api

Listings = dict[int, tuple[Artifact, ...]]
"""The artifacts of runs, by the run's id."""


def list_runs(api: Api, attempts: Attempts, wanted: Mapping[int, Sequence[Wanted]], least: int) -> Listings:
    """List several runs at the same time. `wanted` says what each is listed for, `least` how many of a name.

    Raises `ApiError`.
    """

    def listing(run_id: int) -> tuple[Artifact, ...]:
        names = [str(one.name) for one in wanted[run_id] if not one.artifact_id]
        ids = {one.artifact_id for one in wanted[run_id]}
        few = min(attempts.known(run_id) or 1, least)

        def is_whole(found: Sequence[Artifact]) -> bool:
            slots = [slot for name in names for slot in slots_of_name(name, (FIRST,), found)]
            enough = all(slot.candidates and len(slot.candidates) >= few for slot in slots)
            exact = (slot for slot in slots if not any(each.artifact.id in ids for each in slot.candidates))
            return enough and all(_is_newest(slot, run_id, attempts) for slot in exact)

        return list_artifacts(api, run_id, is_whole)

    with ThreadPoolExecutor(len(wanted)) as pool:
        return dict(zip(wanted, pool.map(listing, wanted), strict=True))


def _is_newest(slot: Slot, run_id: int, attempts: Attempts) -> bool:
    """Whether the newest candidate is what the run's newest attempt left, as far as anything tells."""
    newest, known = slot.candidates[0], attempts.known(run_id)
    if newest.attempt and ATTEMPT not in slot.label:  # a name that says one attempt is asked for that one
        return True
    return known is None or attempts.of(newest, run_id) in (None, known)


def find_by_id(api: Api, artifact_id: int, run_id: int, listings: Listings) -> Artifact | Fault:
    """Return an artifact as it is listed, else as GitHub describes it: then it is added to its run's listing.

    `run_id` is the run that it is looked for in first. Raises `ApiError`.
    """
    listed = next((artifact for artifact in listings[run_id] if artifact.id == artifact_id), None)
    found = listed or get_artifact(api, artifact_id)
    if isinstance(found, Artifact) and not listed:
        of_run = found.run_id or run_id
        if of_run not in listings:  # its run was not named, and its other attempts count too
            listings[of_run] = list_artifacts(api, of_run)
        listings[of_run] = tuple({each.id: each for each in (*listings[of_run], found)}.values())
    return found
