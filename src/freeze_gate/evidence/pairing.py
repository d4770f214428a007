"""From the records of two runs to pairs, one for each fixture id, so that nothing can vanish between the two sides."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Final, NamedTuple

from freeze_gate.evidence.side import Fault, Pair, Side, Source

_GLOB: Final = frozenset("*?[")


class Shown(NamedTuple):
    """All that one run shows: the places that were looked at, one at least, and what each fixture id has there."""

    sources: tuple[Source, ...]
    sides: Mapping[str, Side]


def gather(sources: Iterable[Source], found: Iterable[tuple[str, Side]]) -> Shown:
    """Bring what several archives hold together, one side for each fixture id.

    Records that are byte-identical count as one (a merged artifact beside its parts), with the worse of their pins; any
    other second record of one id is a `record-duplicate`: nothing says which of the two is the run's word.
    """
    ordered = sorted(found, key=lambda item: item[0])
    return Shown(
        tuple(sources),
        {name: _one(name, [side for _, side in group]) for name, group in groupby(ordered, key=lambda item: item[0])},
    )


def _one(name: str, candidates: Sequence[Side]) -> Side:
    digests = {side.record_sha256 for side in candidates}
    if len(candidates) > 1 and (len(digests) > 1 or None in digests):
        fault = Fault("record-duplicate", f"{len(candidates)} different records say that they are {name}")
        return Side(candidates[0].source, fault=fault)
    return max(candidates, key=_weight)


def _weight(side: Side) -> int:
    """Weigh one of several copies of a record. A pin that is wrong goes before a right one, and that before none."""
    if side.faults or (side.pin and side.record and side.pin.sha256 != side.record.fixture_sha256):
        return 2
    return 1 if side.pin else 0


def pair_up(first: Shown, rerun: Shown, expected: Sequence[str] = ()) -> tuple[Pair, ...]:
    """Pair two runs by fixture id, in the order of the ids.

    An id that one side lacks is a pair all the same, and so is an expected id (or a glob that matches nothing) that
    both lack. An archive that could not be read stands for the one side of such pairs; where no pair can stand for it,
    it is a pair of its own, without an id, before all others.
    """
    names = sorted({*first.sides, *rerun.sides})
    names += [name for name in dict.fromkeys(expected) if not _is_there(name, names)]
    pairs = [Pair(name, _side(first, name), _side(rerun, name)) for name in sorted(names)]
    return (*_unaccounted(first, rerun, pairs), *pairs)


def _is_there(expected: str, names: Sequence[str]) -> bool:
    return any(fnmatchcase(name, expected) for name in names) if _GLOB & set(expected) else expected in names


def _side(shown: Shown, name: str) -> Side:
    return shown.sides.get(name) or _absent(shown, f"there is no record of {name}")


def _absent(shown: Shown, detail: str) -> Side:
    """Return the side of an id that is not there: blamed on the one source that could not be read, if there is one."""
    broken = [source for source in shown.sources if source.fault]
    if len(broken) == 1:
        return Side(broken[0])
    return Side(shown.sources[0], fault=Fault("record-missing", detail))


def _unaccounted(first: Shown, rerun: Shown, pairs: Sequence[Pair]) -> list[Pair]:
    """Return a pair for each broken source that no named pair shows, and one where there is nothing at all.

    Sources of one label are the two sides of one pair, and so are a run's only source and the other's.
    """
    ours = _unshown(first, [pair.first for pair in pairs])
    theirs = _unshown(rerun, [pair.rerun for pair in pairs])
    labels = sorted({*ours, *theirs}) or ([] if pairs else [""])
    return [Pair(None, _lost(first, ours.get(label)), _lost(rerun, theirs.get(label))) for label in labels]


def _unshown(shown: Shown, sides: Sequence[Side]) -> dict[str, Source]:
    """Return the broken sources that none of a run's sides comes from, by their labels; a run's only source has ""."""
    broken = {source: source.label if len(shown.sources) > 1 else "" for source in shown.sources if source.fault}
    seen = {side.source for side in sides} if broken else set()
    return {label: source for source, label in broken.items() if source not in seen}


def _lost(shown: Shown, source: Source | None) -> Side:
    fault = Fault("record-missing", "it holds no record for this pair")
    return Side(source) if source else Side(shown.sources[0], fault=fault)
