#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""with_gigantic_pages.py PAGES COMMAND...: runs it with a pool of 1 GiB pages.

Sets the pool back behind it. The exit status is the command's, or 125 if there
are not so many to be had; `with_gigantic_pages.py PAGES` alone tries that.
"""

import subprocess
import sys

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
        if size() < pages:
            return 125
        status = subprocess.run(sys.argv[2:] or ["true"], check=False).returncode
        return status if status >= 0 else 128 - status
    finally:
        resize(before)


if __name__ == "__main__":
    sys.exit(main())
