"""From the records of two runs to pairs, one for each fixture id, so that nothing can vanish between the two sides."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from freeze_gate.evidence.kept import Reading
from freeze_gate.evidence.made import Made
from freeze_gate.evidence.side import Fault, Pair, Side, Source

_GLOB: Final = frozenset("*?[")


class Shown(NamedTuple):
    """All that one run shows: the places that were looked at, one at least, and what each fixture id has there."""

    sources: tuple[Source, ...]
    sides: Mapping[str, Side]


def gather(readings: Iterable[Reading]) -> Shown:
    """Bring what several archives hold together, one side for each fixture id.

    Records that are byte-identical count as one (a merged artifact beside its parts), with the worse of their pins; any
    other second record of one id is a `record-duplicate`: nothing says which of the two is the run's word.
    """
    sources, homes = [], dict[str, tuple[Reading, ...]]()
    for reading in readings:
        sources.append(reading.source)
        alone = (reading,)
        for fixture_id in reading.places:
            homes[fixture_id] = (*homes[fixture_id], reading) if fixture_id in homes else alone
    return Shown(tuple(sources), _Sides(homes))


class _Sides(Mapping[str, Side]):
    """The side of each fixture id, taken from where it is kept whenever it is looked at."""

    def __init__(self, homes: Mapping[str, Sequence[Reading]]) -> None:
        self._homes = homes

    def __len__(self) -> int:
        return len(self._homes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __contains__(self, fixture_id: object) -> bool:
        return fixture_id in self._homes

    def __getitem__(self, fixture_id: str) -> Side:
        readings = self._homes[fixture_id]
        return one_of(fixture_id, (side for reading in reversed(readings) for side in reading.sides(fixture_id)))


def one_of(name: str, last_first: Iterator[Side]) -> Side:
    """Return what counts of several records of one id, which are given the last one first; see `gather`."""
    side = chosen = next(last_first)
    sha256, count, equal = side.record_sha256, 1, True
    for count, side in enumerate(last_first, 2):  # noqa: B007 - how many there were is told, and the first one's source
        equal = equal and sha256 is not None and side.record_sha256 == sha256
        chosen = max(side, chosen, key=_weight)
    if equal:
        return chosen
    return Side(side.source, fault=Fault("record-duplicate", f"{count} different records say that they are {name}"))


def _weight(side: Side) -> int:
    """Weigh one of several copies of a record. A pin that is wrong goes before a right one, and that before none."""
    if side.faults or (side.pin and side.record and side.pin.sha256 != side.record.fixture_sha256):
        return 2
    return 1 if side.pin else 0


def pair_up(first: Shown, rerun: Shown, expected: Sequence[str] = ()) -> Sequence[Pair]:
    """Pair two runs by fixture id, in the order of the ids.

    An id that one side lacks is a pair all the same, and so is an expected id (or a glob that matches nothing) that
    both lack. An archive that could not be read stands for the one side of such pairs; where no pair can stand for it,
    it is a pair of its own, without an id, before all others. A rerun that was made before its first run is none.
    """
    shown = {*first.sides, *rerun.sides}
    names = sorted({*shown, *(name for name in expected if not _is_there(name, shown))})
    lost = _unaccounted(first, rerun, names)

    def pair(place: int) -> Pair:
        if place < len(lost):
            return lost[place]
        name = names[place - len(lost)]
        return _in_order(Pair(name, _side(first, name), _side(rerun, name)))

    return Made(len(lost) + len(names), pair)


def _in_order(pair: Pair) -> Pair:
    """Take away a rerun of an earlier attempt than the first run's: that attempt left it, and this one left none."""
    first, rerun = _made_by(pair.first), _made_by(pair.rerun)
    if not first or not rerun or first[0] != rerun[0] or first[1] <= rerun[1]:
        return pair
    detail = (
        f"what is there is of attempt {rerun[1]}, before the first run's attempt {first[1]}, so it is no rerun of it"
    )
    return pair._replace(rerun=Side(pair.rerun.source, fault=Fault("artifact-missing", detail)))


def _made_by(side: Side) -> tuple[int, int] | None:
    """Return the run and the attempt that made a record, where GitHub was asked about the run."""
    asked = side.record and side.source.run_id
    return (asked, side.attempt) if asked and side.attempt else None


def _is_there(expected: str, names: Collection[str]) -> bool:
    return any(fnmatchcase(name, expected) for name in names) if _GLOB & set(expected) else expected in names


def _side(shown: Shown, name: str) -> Side:
    return shown.sides.get(name) or _absent(shown, f"there is no record of {name}")


def _absent(shown: Shown, detail: str) -> Side:
    """Return the side of an id that is not there: blamed on the one source that could not be read, if there is one."""
    broken = _broken(shown)
    if len(broken) == 1:
        return Side(broken[0])
    return Side(shown.sources[0], fault=Fault("record-missing", detail))


def _broken(shown: Shown) -> list[Source]:
    return [source for source in shown.sources if source.fault]


def _unaccounted(first: Shown, rerun: Shown, names: Sequence[str]) -> list[Pair]:
    """Return a pair for each broken source that no named pair shows, and one where there is nothing at all.

    Sources of one label are the two sides of one pair, and so are a run's only source and the other's.
    """
    ours, theirs = _unshown(first, names), _unshown(rerun, names)
    labels = sorted({*ours, *theirs}) or ([] if names else [""])
    return [Pair(None, _lost(first, ours.get(label)), _lost(rerun, theirs.get(label))) for label in labels]


def _unshown(shown: Shown, names: Iterable[str]) -> dict[str, Source]:
    """Return the broken sources that none of a run's sides comes from, by their labels; a run's only source has ""."""
    broken = _broken(shown)
    if len(broken) == 1 and any(name not in shown.sides for name in names):
        return {}
    return {source.label if len(shown.sources) > 1 else "": source for source in broken}


def _lost(shown: Shown, source: Source | None) -> Side:
    fault = Fault("record-missing", "it holds no record for this pair")
    return Side(source) if source else Side(shown.sources[0], fault=fault)
