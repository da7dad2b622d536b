#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""with_gigantic_pages.py PAGES COMMAND...: runs it with a pool of 1 GiB pages.

Restores the pool afterwards. The exit status is the command's. If there are not so many pages, even
after the kernel compacted memory, standard output and standard error report it and the status is 0;
`with_gigantic_pages.py PAGES` alone tries that, and ends with 125.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
from mpgtest.memory import NOT_TESTABLE, TRIES, compact  # noqa: E402

POOL = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"


def size() -> int:
    with open(POOL, encoding="ascii") as file:
        return int(file.read())


def resize(pages: int) -> None:
    with open(POOL, "w", encoding="ascii") as file:
        file.write(str(pages))


def main() -> int:
    pages = int(sys.argv[1])
    try:
        before = size()
        resize(pages)
    except OSError as error:
        print(f"with_gigantic_pages.py: {error}", file=sys.stderr)
        return 125
    try:
        for _ in range(TRIES):
            if size() >= pages:
                break
            compact()
            resize(pages)
        if size() < pages:
            reason = f"{NOT_TESTABLE}: memory is in pieces, there is no page of 1 GiB"
            print(reason)
            print(reason, file=sys.stderr)
            return 0 if sys.argv[2:] else 125
        status = subprocess.run(sys.argv[2:] or ["true"], check=False).returncode
        return status if status >= 0 else 128 - status
    finally:
        resize(before)


sys.exit(main())
