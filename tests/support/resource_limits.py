"""Limits of this process: they let writing and opening fail as a full disk and a busy machine do."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond `size` bytes. A write fails after what still fits."""
    with _limit(resource.RLIMIT_FSIZE, size):
        yield


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    """Let this process open nothing: no file, no socket."""
    free = os.dup(0)  # the lowest free one
    os.close(free)
    with _limit(resource.RLIMIT_NOFILE, free):
        yield


@contextmanager
def _limit(kind: int, value: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (value, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))
