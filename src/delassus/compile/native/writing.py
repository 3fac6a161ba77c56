"""The policy by which batch entries write their outputs.

The matrices of a block of lanes are first written to work memory, lanes side by side, and then
copied to their places. There are three ways to copy them (see `transfer`):

| bytes of a matrix, for one state | matrices of all states | way |
| --- | --- | --- |
| below 512 | any | `copy_out`: entry by entry |
| from 512 on | any | `copy_lines_out`: in whole cache lines |
| above 2048 | from 16 MB on, x86 | `stream_out`: in whole lines, past the caches |

Outputs may be prefetched while the block before them is computed:

| bytes of an output, for one state | matrices of all states | prefetched |
| --- | --- | --- |
| up to 2048 | any | yes |
| up to 4096 | 4 to 16 MB, x86 | yes |
| more | any | no |

What each rule gains, measured on an Intel Xeon (Emerald Rapids, second cache of 2 MB), as time with
the rule divided by time without it:

| rule | time |
| --- | --- |
| whole lines, 512 mass matrices of HyQ and Talos | 0.8 to 0.9 |
| past the caches, 8192 mass matrices of Talos | 0.7; 0.83 if they are read afterwards |
| past the caches, 2048 inverses of 24 rows (9 MB): not done | 1.2 if they are read afterwards |
| prefetch, forward dynamics in batches larger than the caches | 0.95 |
| prefetch, 4096 mass matrices of HyQ (2.6 KB) that are in no cache | 0.75 |
| prefetch, 256 of them, in the second cache: not done | 1.14 |
"""

from __future__ import annotations

from typing import NamedTuple

from . import cpu

_NEVER = 2**62
# From so many bytes for all states on, outputs count as outside the second cache, and as larger
# than all caches.
_OUTSIDE_SECOND_CACHE, _LARGER_THAN_CACHES = 4 * 2**20, 16 * 2**20
# Bytes for one state: see the tables.
_LEAST_BY_LINES = 512
_MOST_AHEAD, _MOST_AHEAD_FROM_AFAR = 2048, 4096


class Writing(NamedTuple):
    """Bytes for one state: most to prefetch, least to copy in whole lines and past the caches."""

    most_ahead: int
    least_by_lines: int
    least_streamed: int


_USUAL = Writing(_MOST_AHEAD, _LEAST_BY_LINES, _NEVER)
_FROM_AFAR = Writing(_MOST_AHEAD_FROM_AFAR, _LEAST_BY_LINES, _NEVER)
_PAST_CACHES = Writing(_MOST_AHEAD, _LEAST_BY_LINES, _MOST_AHEAD + 1)


def how_to_write(total_bytes: int) -> Writing:
    """How to write outputs if the matrices of all states have `total_bytes`."""
    if total_bytes < _OUTSIDE_SECOND_CACHE or not cpu.reads_before_writing():
        return _USUAL
    return _FROM_AFAR if total_bytes < _LARGER_THAN_CACHES else _PAST_CACHES
