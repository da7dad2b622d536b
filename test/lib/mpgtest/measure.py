# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processor time of a command, and how far the median of measurements can be trusted."""

from __future__ import annotations

import math
import resource
import subprocess
from typing import Sequence

from mpgtest.run import Word


def get_processor_seconds(command: Sequence[Word], must_succeed: bool = True) -> float:
    """User and system time of the command and the children that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=must_succeed)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def get_median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The narrowest pair of ranks between which the median lies with 95 %: the sign test's.
    The smallest and largest value if there are too few for that."""
    ordered, count = sorted(values), len(values)
    below, tail = 0, 0.5 ** count  # the chance of so few values below the median
    while tail <= 0.025:
        below += 1
        tail += math.comb(count, below) * 0.5 ** count
    below = max(below - 1, 0)
    return ordered[below], ordered[count - 1 - below]
