"""Checks that measured results are right, whatever their speed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .tables import Findings, Record

# Both libraries compute in doubles: results that differ by more than this are wrong.
LARGEST_DIFFERENCE = 1e-9
# A limit that all numbers keep except infinity and NaN.
FINITE = sys.float_info.max


@dataclass(frozen=True)
class Limit:
    """The largest value that an entry of a table's records may have, and a message if it is larger.

    An entry may be a list of numbers: then all must keep the limit. The message is a format string
    that names entries of the record, such as "{robot}: differs by {difference:.1e}".
    """

    table: str
    key: str
    message: str
    most: float | Callable[[Record], float] = LARGEST_DIFFERENCE

    def failures(self, findings: Findings) -> list[str]:
        """Messages for all records of which the entry is too large, or NaN."""
        return [self.message.format_map(r) for r in findings[self.table] if not self._is_kept(r)]

    def _is_kept(self, record: Record) -> bool:
        value = record.get(self.key)
        most = self.most(record) if callable(self.most) else self.most
        return value is None or bool(np.max(value) <= most)


def find_failures(limits: Sequence[Limit], findings: Findings) -> list[str]:
    """Messages for all that is wrong; limits on tables that were not measured are left out."""
    return [
        message
        for limit in limits
        if limit.table in findings
        for message in limit.failures(findings)
    ]
