"""How much of an artifact is read, and why that much."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Sizes in bytes, uncompressed unless said otherwise. The verdict document names the limits that were used.

    - `artifact_bytes`: the download, compressed; the input `max-artifact-mb`.
    - `members`: ten thousand fixtures with room to spare. All archives of a run together may hold as many records.
    - `records_bytes`: of one archive, and of all archives of a run: a thousand of the largest records, or some seventy
      thousand of the usual size. They are kept in memory.
    - `member_bytes`: one pin; what a zip without its 64-bit extension can hold.
    - `total_bytes`: what one run hashes in about a minute.
    - `ratio`: deflate reaches 1,032 on zeros alone, and real samples stay under 50. An archive below
      `ratio_free_bytes` may be of any ratio, because reading it takes less than a second.
    """

    artifact_bytes: int = 2048 << 20
    members: int = 50_000
    records_bytes: int = 64 << 20
    member_bytes: int = 4 << 30
    total_bytes: int = 8 << 30
    ratio: int = 1_000
    ratio_free_bytes: int = 64 << 20
