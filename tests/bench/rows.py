"""What is measured, row by row. Each function measures Freeze Gate and its reference in turns."""

import os
import shlex
import shutil
from collections.abc import Iterator
from typing import NamedTuple

from tests.bench import container, evidence
from tests.bench.measure import Command, Figures, in_turns, spend
from tests.bench.place import Installation, github
from tests.support.sshd import SSHD, run_sshd

TIMES = 25
CLASSES = ("property_miss", "unclassified", "fixture_drift", "harness_flake")
COUNTING = 0.5
"""Seconds that an answer takes while round trips are counted: nothing that comes late is taken for the next round."""


class Row(NamedTuple):
    """One line of the table: ours and the reference as text, the ratio where there is one, and its goal."""

    what: str
    ours: str
    reference: str
    ratio: float | None = None
    goal: str = ""
    command: str = ""


def _ms(middle: float, least: float) -> str:
    return f"{middle * 1000:.0f} ms ({least * 1000:.0f})"


def _wall(what: str, ours: Figures, reference: Figures, goal: str, command: str) -> Row:
    """Compare the time that a person waits: the medians, and the least of all runs in brackets."""
    own, other = _ms(ours.wall, ours.best.wall), _ms(reference.wall, reference.best.wall)
    return Row(f"{what}: wall", own, other, ours.wall / reference.wall, goal, command)


def _processor(what: str, ours: Figures, reference: Figures, goal: str, command: str) -> Row:
    """Compare the time of all processors."""
    own, other = _ms(ours.cpu, ours.best.cpu), _ms(reference.cpu, reference.best.cpu)
    return Row(f"{what}: processor", own, other, ours.cpu / reference.cpu, goal, command)


def _against(what: str, ours: Figures, reference: Figures, goal: str, command: str) -> Iterator[Row]:
    yield _wall(what, ours, reference, goal, command)
    yield _processor(what, ours, reference, goal, command)


def whole_gate(place: Installation) -> Iterator[Row]:
    """Measure the whole gate on the loopback, beside the imports alone and beside the official client's download."""
    bundled = place.official_client()
    with github("harness_flake") as server:
        gate, floor = server.gate(place), place.imports()
        measured = in_turns(TIMES, gate, floor, *([server.download(bundled, place.folder / "got")] if bundled else []))
    said = "python -I -u -m freeze_gate gate"
    yield from _against(
        "gate, a flake with a policy", measured[0], measured[1], "1.3", f"{said} / python -I -c 'import requests, yaml'"
    )
    if bundled:
        words = f"{said} / node: @actions/artifact lists and downloads both"
        yield from _against("gate and the official client", measured[0], measured[2], "0.4", words)
    else:
        yield Row("gate and the official client", "", "not there: npm ci in tests/e2e")


def huge_pins(place: Installation, megabytes: int = 250, times: int = 3) -> Iterator[Row]:
    """Measure two large pins, beside the tools that anybody has."""
    sides = evidence.huge(place.folder, megabytes)
    what = f"{megabytes} MB pin a side, classify"
    if not shutil.which("unzip"):
        yield Row(what, f"{spend(place.classify(*sides)).wall:.2f} s", "not there: apt-get install unzip")
        return
    pipe = " && ".join(f"unzip -p {zipped} '*/fixtures/*' | sha256sum" for zipped in sides)
    ours, unzip = in_turns(times, place.classify(*sides), Command(["/bin/sh", "-c", pipe]))
    yield from _against(what, ours, unzip, "0.36", "freeze-gate classify A B / unzip -p A … | sha256sum, then B")


def memory(place: Installation, megabytes: int = 300) -> Iterator[Row]:
    """Measure the peak with large pins, beside that with small ones."""
    sides, small = evidence.huge(place.folder, megabytes), evidence.many(place.folder, 1)
    for what, peaks, goal in (
        ("classify", [spend(place.classify(*pair)).peak for pair in (sides, small)], 40),
        ("gate", [_gate_peak(place, pair) for pair in (sides, small)], 56),
    ):
        own, other = (f"{peak:.1f} MiB" for peak in peaks)
        yield Row(f"peak of {what}, {megabytes} MB pin a side", own, f"{other} with 2 KB", None, f"{goal} MiB", what)


def _gate_peak(place: Installation, sides: evidence.Sides) -> float:
    with github("zips", *sides) as server:
        return spend(server.gate(place)).peak


def many_pairs(place: Installation, counts: tuple[int, ...] = (1_000, 10_000)) -> Iterator[Row]:
    """Measure merged artifacts: what a pair takes, beside a reader that checks nothing; the time must be linear."""
    for count in counts:
        sides = evidence.many(place.folder, count)
        ours, plain = in_turns(3, place.classify(*sides), place.plain_reading(*sides))
        for kind, own, other in (("wall", ours.wall, plain.wall), ("processor", ours.cpu, plain.cpu)):
            yield Row(
                f"each of {count:,} pairs, classify: {kind}",
                f"{own / count * 1e6:.0f} µs",
                f"{other / count * 1e6:.0f} µs",
                own / other,
                "150 µs",
                "freeze-gate classify A B / zipfile, json.loads and sha256 of the same",
            )
        yield Row(f"peak of {count:,} pairs, classify", f"{ours.peak:.0f} MiB", f"{plain.peak:.0f} MiB")


def shards(place: Installation) -> Iterator[Row]:
    """Measure 256 artifacts a side, beside one merged artifact a side, with answers that take 20 ms."""
    told = []
    for scene in ("shards", "merged"):
        with github(scene, latency=0.02) as server:
            spent = spend(server.gate(place))
            told.append(f"{spent.wall:.2f} s, {server.asked().calls} API calls, {spent.peak:.0f} MiB")
    yield Row("256 shards a side, 20 ms an answer", told[0], f"{told[1]} merged", command="gate")


def calls(place: Installation) -> Iterator[Row]:
    """Count API calls and the round trips that wait for each other, for each class; the time with answers of 50 ms."""
    limits = {"property_miss": "3 calls", "unclassified": "3 calls", "fixture_drift": "7 calls"}
    for name in CLASSES:
        with github(name, latency=COUNTING) as server:
            spend(server.gate(place))
            asked = server.asked()
        walls = []
        for latency in (0.05, 0):
            with github(name, latency=latency) as server:
                walls.append(spend(server.gate(place)).wall)
        yield Row(
            f"{name}: {asked.calls} API calls, {asked.rounds} round trips in a row",
            f"{walls[0]:.2f} s with 50 ms an answer",
            f"{walls[1]:.2f} s with none",
            None,
            limits.get(name, "7 calls, 5 round trips"),
            "gate",
        )


def lane(place: Installation, megabytes: int = 50, times: int = 5) -> Iterator[Row]:
    """Measure an oracle on a lane behind sshd on the loopback, beside copying the pin there and an oracle here."""
    what = f"an oracle on a lane, {megabytes} MB pin"
    if not SSHD or os.geteuid() != 0:
        yield Row(what, "", "needs openssh-server, and root to start it")
        return
    bundle, sample = place.folder / "lane-bundle", place.folder / "lane-sample"
    sample.write_bytes(os.urandom(megabytes * 1_000_000))
    tool = [str(place.python), "-I", "-m", "freeze_gate"]
    spend(Command([*tool, "pin", "--id", "large", "--bundle", bundle, sample]))
    oracle = [*tool, "oracle", "--id", "large", "--bundle", str(bundle)]
    with run_sshd(place.folder / "sshd", ["sh", "-c", 'eval "$SSH_ORIGINAL_COMMAND"']) as server:
        ssh = server.client[:-2]
        copy = f"{shlex.join([*ssh, f'cat >{place.folder}/received'])} <{sample} && {shlex.join(oracle)} -- true"
        on_lane = Command([*oracle, "--lane", shlex.join([*ssh, shlex.join([*tool, "lane"])]), "--", "true"])
        ours, reference = in_turns(times, on_lane, Command(["/bin/sh", "-c", copy]))
    words = "freeze-gate oracle --lane 'ssh …' / ssh … 'cat >file' <pin && freeze-gate oracle"
    yield from _against(what, ours, reference, "", words)


def image(place: Installation) -> Iterator[Row]:
    """Measure the image: what it adds to its base, and what a container takes to come to the four lines."""
    yield Row("the image's tree over its base", f"{place.added / 1e6:.1f} MB", "", None, "12 MB", "as the Dockerfile")
    if not container.answers():
        yield Row("docker run to the four lines", "no container engine answers", "")
    elif names := container.built():
        yield from _container(names)
    else:
        yield Row("docker run to the four lines", "the base image cannot be had: name one in BASE_IMAGE", "")


def _container(names: container.Image) -> Iterator[Row]:
    with github("harness_flake") as server:
        gate, bare = container.running(names.image, server), container.running(names.base, None)
        ours, floor = in_turns(7, gate, bare)
    added, base = (f"{size / 1e6:.1f} MB" for size in (names.size - names.base_size, names.base_size))
    yield Row("the image over its base, in the engine", added, f"{base} the base", None, "12 MB", "docker build .")
    words = "docker run IMAGE / docker run BASE python -c pass"
    yield _wall("docker run to the four lines", ours, floor, "", words)


SECTIONS = {
    "gate": whole_gate,
    "pins": huge_pins,
    "memory": memory,
    "pairs": many_pairs,
    "shards": shards,
    "calls": calls,
    "lane": lane,
    "image": image,
}
