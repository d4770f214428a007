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


def on_lane(carrier: str) -> tuple[str, ...]:
    """Run the oracle on another machine: here a process of this one, or a carrier that ends as ssh does."""
    return ("oracle", "--id", ID, "--lane", carrier, "--", "{python}", "{oracle}")


LANE = "{python} -I -m freeze_gate lane"
LANE_DOWN = "sh -c 'exit 255'"
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
        "The first run never reached the lane that runs its oracle; the rerun reaches it and passes.",
        (sample("still"), on_lane(LANE_DOWN)),
        (REPLAY, on_lane(LANE)),
    ),
    "unclassified": Scene(
        "One oracle failed and the other passed on the same bytes.",
        (sample("still"), oracle("broken")),
        (REPLAY, oracle()),
    ),
}
