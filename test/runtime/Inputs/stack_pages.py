"""On which pages the stacks of a program are, by the kernel.

    stack_pages.py [--until=TEXT] PROGRAM ARGS...

Starts the program, waits for its line `holding`, and takes the stack pointer of
each of its threads from /proc/PID/task/TID/syscall. Prints for the mapping that
it points into: the kind of its pages (hugetlb, thp, normal), its size, how much
of it is present, what lies directly below, and its name. `others` sums up the
large mappings that no stack pointer is in. Then the program's input is closed
and its exit status is passed on. Shares no code with libmpg.

--until: each thread, or else the first one, must print TEXT, which needs transparent pages. If it
does not, the program is run again after the kernel compacted memory. If the kernel has no such
pages even for this script, it prints that, with TEXT.
"""

import os
import pathlib
import subprocess
import sys
import time
from typing import Dict, List, NamedTuple, Tuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
from mpgtest.memory import (  # noqa: E402
    NOT_TESTABLE, TRIES, can_have_transparent_pages, compact)


class Mapping(NamedTuple):
    start: int
    end: int
    permissions: str
    name: str
    sizes: Dict[str, int]
    flags: List[str]

    def kind(self) -> str:
        if self.sizes["KernelPageSize"] >= 2048:
            return "hugetlb"
        rss, huge = self.sizes["Rss"], self.sizes["AnonHugePages"]
        return "thp" if huge and huge * 100 >= rss * 95 else "normal"

    def present_kib(self) -> int:
        return self.sizes["Rss"] + self.sizes["Private_Hugetlb"]


def read_mappings(pid: int) -> List[Mapping]:
    mappings: List[Mapping] = []
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if not words[0].endswith(":"):
                start, end = (int(part, 16) for part in words[0].split("-"))
                name = " ".join(words[5:])
                mappings.append(Mapping(start, end, words[1], name, {}, []))
            elif words[0] == "VmFlags:":
                mappings[-1].flags.extend(words[1:])
            elif len(words) == 3:
                mappings[-1].sizes[words[0][:-1]] = int(words[1])
    return mappings


def below(mappings: List[Mapping], at: int) -> str:
    if at == 0 or mappings[at - 1].end != mappings[at].start:
        return "nothing"
    lower = mappings[at - 1]
    if lower.permissions.startswith("---"):
        return "guard"
    return "growing" if "gd" in lower.flags else lower.kind()


def large_below(mappings: List[Mapping], at: int) -> str:
    """Large pages that are present in what continues the mapping downwards."""
    thp = pool = 0
    while at and mappings[at - 1].end == mappings[at].start:
        at -= 1
        thp += mappings[at].sizes["AnonHugePages"]
        pool += mappings[at].sizes["Private_Hugetlb"]
    return (f", {thp} KiB of thp below" if thp else "") + (
        f", {pool} KiB of the pool below" if pool else "")


def stack_pointer(pid: int, thread: int) -> int:
    """Of a thread that waits; one that is on its way there is waited for."""
    for _ in range(1000):
        with open(f"/proc/{pid}/task/{thread}/syscall", encoding="ascii") as file:
            words = file.read().split()
        if words[0] != "running":
            return int(words[-2], 16)
        time.sleep(0.01)
    raise SystemExit(f"thread {thread} does not wait")


def describe(pid: int) -> List[str]:
    lines = []
    mappings = read_mappings(pid)
    used = set()
    for thread in sorted(int(name) for name in os.listdir(f"/proc/{pid}/task")):
        pointer = stack_pointer(pid, thread)
        for at, mapping in enumerate(mappings):
            if mapping.start <= pointer < mapping.end:
                used.add(at)
                lines.append(
                    f"{'main' if thread == pid else 'thread'}: {mapping.kind()} "
                    f"{(mapping.end - mapping.start) >> 10} KiB, "
                    f"{mapping.present_kib()} present, "
                    f"below {below(mappings, at)}, name '{mapping.name}'"
                    f"{large_below(mappings, at)}"
                )
    others = [m for at, m in enumerate(mappings) if at not in used]
    large = sum(m.end - m.start for m in others if m.kind() == "hugetlb")
    return lines + [f"others: {large >> 10} KiB hugetlb"]


def run(command: List[str]) -> Tuple[int, List[str]]:
    """Status of the program and its description."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        for line in program.stdout:
            if line.strip() == "holding":
                break
        else:
            return program.wait(), ["the program has ended"]
        lines = describe(program.pid)
        program.stdin.close()
        program.stdout.read()
        return program.wait(), lines


def main() -> int:
    command = sys.argv[1:]
    wanted = ""
    if command[0].startswith("--until="):
        wanted = command.pop(0).split("=", 1)[1]
    for _ in range(TRIES + 1):
        status, lines = run(command)
        threads = [line for line in lines if line.startswith("thread: ")]
        if all(wanted in line for line in threads or lines[:1]):
            break
        compact()
    else:
        if not can_have_transparent_pages(4):
            print(f"{NOT_TESTABLE}: memory is in pieces, the kernel has no transparent "
                  f"pages; {wanted}")
            return 0
    print("\n".join(lines))
    return status


sys.exit(main())
