"""A sequence that is not there: ten thousand items of it take no more memory than one."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class Made(Sequence[T_co]):
    """Items that `make` makes from their places whenever they are looked at, and again each time."""

    def __init__(self, count: int, make: Callable[[int], T_co]) -> None:
        self._places = range(count)
        self._make = make

    def __len__(self) -> int:
        """How many there are."""
        return len(self._places)

    def __iter__(self) -> Iterator[T_co]:
        """Make one after the other."""
        return map(self._make, self._places)

    @overload
    def __getitem__(self, place: int) -> T_co: ...
    @overload
    def __getitem__(self, place: slice) -> "Made[T_co]": ...
    def __getitem__(self, place: int | slice) -> "T_co | Made[T_co]":
        """Make one, or say which are to be made of a part. Raises `IndexError`."""
        if isinstance(place, slice):
            places = self._places[place]
            return Made(len(places), lambda each: self._make(places[each]))
        return self._make(self._places[place])
