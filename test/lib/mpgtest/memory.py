# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel makes transparent huge pages of free memory in pieces of that size.
Where others have left few of these, it makes more when it is told to."""

from __future__ import annotations

TRIES = 5  # of what needs transparent pages, after the first


def compact() -> None:
    try:
        with open("/proc/sys/vm/compact_memory", "w") as file:
            file.write("1")
    except OSError:
        pass  # not root: the kernel compacts by itself, if later
