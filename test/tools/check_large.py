#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_large.py AUDITOR FILE...: is each file laid out by ld.mpg?

.data and .bss begin at multiples of 2 MiB in separate memory that ends at one, the layout note
gives their place, and the auditor finds nothing worse than a note for target mpg. Otherwise prints
what is wrong; exit status 1.
"""

from __future__ import annotations

import subprocess
import sys

from link_matrix import RowFailed, check_layout, check_note


def check(auditor: str, path: str) -> None:
    check_layout(path, expect_large=False)
    check_note(path)
    audit = subprocess.run(
        [auditor, "--target=mpg", "--fail-on=warning", path],
        text=True,
        stdout=subprocess.PIPE,
    )
    # That a library gets no large pages from libmpg is not a matter of layout.
    if audit.returncode != 0 and "MPG143" not in audit.stdout:
        raise RowFailed(f"status {audit.returncode} of mpgaudit:\n{audit.stdout}")


def main() -> int:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for path in sys.argv[2:]:
        try:
            check(sys.argv[1], path)
        except (RowFailed, KeyError) as reason:
            print(f"{path}: {reason}")
            return 1
    return 0


sys.exit(main())
