"""A zip, read in the one way that every reader must read it, or refused.

`zipfile` is not enough for bytes that a stranger made: it builds the whole table of contents before anybody can count
it, lets members overlap, and takes a member that is longer or shorter than declared. Here the table is counted before
it is read, must fill the place between the members and the end of the file, and must agree with the header in front of
each member; a member must inflate to exactly the declared size and checksum. Only what uploaders write is read: one
disk, no comment, no encryption, stored or deflated. The format is PKWARE's APPNOTE.TXT 6.3, sections 4.3 and 4.5.3.
"""

import io
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from freeze_gate.evidence.tree import Weight, odd
from freeze_gate.evidence.zip_member import least_stop, open_member
from freeze_gate.evidence.zip_table import NOT_AS_LONG, Entry, find_table, read_entry, refuse_odd


class Zip:
    """The members of a zip by name, all of it checked before any is opened. Raises `ArchiveError`.

    Of its table of contents nothing is kept but the names of the records and, for each file, the hash of its name, the
    place of its entry, and where whatever is behind the file begins: 32 bytes, however long the name is.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        packed_bytes = stream.seek(0, io.SEEK_END)
        self._table = find_table(self._read, packed_bytes)
        weight = Weight()
        self._files = self._look_through(weight)
        weight.limit(packed_bytes)
        self.records = weight.records

    def __iter__(self) -> Iterator[str]:
        """Name all files."""
        return (name for _, entry in self._entries() if not _is_folder(name := entry.name))

    def open(self, name: str) -> BinaryIO:
        """Open a file. Raises `KeyError` where there is none of that name."""
        place, length, stop = self._files.find(name)
        entry = read_entry(self._read(place, length), 0)
        if entry.name != name:
            raise KeyError(name)
        return open_member(self._read, entry, stop)

    def _look_through(self, weight: Weight) -> "_Files":
        """Check all that the table says, weigh the files, and return what is kept of them."""
        hashes, numbers = array("q"), array("L")
        places, lengths = array("Q"), array("L")
        offsets, least_stops = array("Q"), array("Q")
        for number, (place, entry) in enumerate(self._entries()):
            name = entry.name
            is_folder = _is_folder(name)
            refuse_odd(entry, is_folder=is_folder)
            least = least_stop(entry)
            if least > self._table.offset:
                raise odd("members that overlap")
            places.append(place)
            lengths.append(entry.length)
            offsets.append(entry.offset)
            least_stops.append(least)
            if not is_folder:
                hashes.append(hash(name))
                numbers.append(number)
                weight.add(name, entry.size)
        stops = _stops(offsets, least_stops, self._table.offset)
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        if any(hashes[one] == hashes[other] for one, other in pairwise(order)):
            raise odd("two members of one name")
        chosen = [numbers[place] for place in order]
        return _Files(
            array("q", map(hashes.__getitem__, order)),
            array("Q", map(places.__getitem__, chosen)),
            array("L", map(lengths.__getitem__, chosen)),
            array("Q", map(stops.__getitem__, chosen)),
        )

    def _read(self, place: int, size: int) -> bytes:
        self._stream.seek(place)
        found = self._stream.read(size)
        if len(found) != size:
            raise odd("less than it says")
        return found

    def _entries(self) -> Iterator[tuple[int, Entry]]:
        """Read the table of contents, each entry with its place; they must fill it."""
        table, start = self._read(self._table.offset, self._table.size), 0
        for _ in range(self._table.members):
            entry = read_entry(table, start)
            yield self._table.offset + start, entry
            start += entry.length
        if start != len(table):
            raise odd(NOT_AS_LONG)


class _Files(NamedTuple):
    """The files by the hashes of their names, in the order of the hashes, of which no two are equal.

    64 bits with a key of this process's own: that two names share them by chance is less than one in ten thousand
    million for 50,000 members, and then the archive is refused.
    """

    hashes: "array[int]"
    places: "array[int]"
    lengths: "array[int]"
    stops: "array[int]"

    def find(self, name: str) -> tuple[int, int, int]:
        """Return the place and the length of an entry, and where whatever is behind the file begins.

        Whether it is of that very name, only the entry can say. Raises `KeyError`.
        """
        wanted = hash(name)
        number = bisect_left(self.hashes, wanted)
        if number == len(self.hashes) or self.hashes[number] != wanted:
            raise KeyError(name)
        return self.places[number], self.lengths[number], self.stops[number]


def _is_folder(name: str) -> bool:
    return not name or name.endswith("/")


def _stops(offsets: "array[int]", least_stops: "array[int]", stop: int) -> "array[int]":
    """Return where whatever is behind each member begins. Raises `ArchiveError` where two overlap."""
    stops = array("Q", offsets)
    for number in sorted(range(len(offsets)), key=offsets.__getitem__, reverse=True):
        if least_stops[number] > stop:
            raise odd("members that overlap")
        stops[number], stop = stop, offsets[number]
    return stops
