"""What happens in the two runs of each scene: the capture commands that a job would run, word for word."""

from typing import NamedTuple

ID = "sorted-patch"
LANE_DROPPED = ("transport", "--id", ID, "--fault", "connection")


class Scene(NamedTuple):
    """The commands of the first run and of the rerun. `{url}`, `{first}`, `{oracle}` and `{python}` are filled in."""

    story: str
    first: tuple[tuple[str, ...], ...]
    rerun: tuple[tuple[str, ...], ...]


def sample(path: str) -> tuple[str, ...]:
    """Ask the sampler: `still`, `moving`, `cut` or `silent`."""
    return ("sample", "--id", ID, "--url", f"{{url}}/{path}", "--data", "{}", "--suffix", ".json")


def oracle(*words: str) -> tuple[str, ...]:
    """Run the oracle; with `broken`, on a patch that breaks the property."""
    return ("oracle", "--id", ID, "--", "{python}", "{oracle}", *words)


REPLAY = ("replay", "{first}", "--id", ID)

SCENES = {
    "property_miss": Scene(
        "The patch breaks the property: both oracles fail on the same bytes.",
        (sample("still"), oracle("broken")),
        (sample("still"), oracle("broken")),
    ),
    "fixture_drift": Scene(
        "The sampler was asked twice and answered twice, differently.",
        (sample("moving"), oracle()),
        (sample("moving"), oracle("broken")),
    ),
    "harness_flake": Scene(
        "The first run's executing lane dropped before its oracle; the rerun checks the same bytes and passes.",
        (sample("still"), LANE_DROPPED),
        (REPLAY, oracle()),
    ),
    "unclassified": Scene(
        "One oracle failed and the other passed on the same bytes.",
        (sample("still"), oracle("broken")),
        (REPLAY, oracle()),
    ),
}
