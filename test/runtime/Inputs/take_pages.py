"""Takes all free 2 MiB pages while a program waits to touch its own.

    take_pages.py PROGRAM ARGS...

Starts the program; when it prints `ready`, maps every remaining large page, lets the program
continue (its input is closed), and returns the pages when it has ended. Exit status: the program's,
or 128 and its signal.
"""

import mmap
import subprocess
import sys

MAP_HUGETLB, MAP_HUGE_2MB = 0x40000, 21 << 26
POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB/"
MIB2 = 2 << 20


def number(name: str) -> int:
    with open(POOL + name) as file:
        return int(file.read())


def take() -> list:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB
    taken = []
    while True:
        left = number("free_hugepages") - number("resv_hugepages")
        if left <= 0:
            return taken
        try:
            block = mmap.mmap(-1, left * MIB2, flags=flags)
        except OSError:
            continue  # somebody else was faster
        for page in range(left):
            block[page * MIB2] = 1
        taken.append(block)


def main() -> int:
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    if process.stdout.readline().strip() != b"ready":
        process.communicate()
        return process.returncode or 1
    taken = take()
    left = number("free_hugepages") - number("resv_hugepages")
    process.communicate()
    print(f"took {sum(len(b) for b in taken) // MIB2} pages, {left} left")
    status = process.returncode
    return status if status >= 0 else 128 - status


sys.exit(main())
