"""Which part of a program's .data and .bss is on large pages, by the kernel.

    pagemap.py [--json] [--min REGION=SHARE]... [--max-normal REGION=BYTES]...
               [--kind hugetlb|thp|any] (--pid PID | [--] PROGRAM ARGS...)

A program that is started is looked at when it prints the line `ready`; then its
input is closed and its exit status is expected to be 0. It can be run by an
emulator (`-- qemu-aarch64 -L DIR PROGRAM`): name it with --program.

REGION is data, bss, or all; SHARE a percentage of its bytes. Regions come from the program headers,
and their pages from /proc/PID/{maps,smaps,pagemap} and /proc/kpageflags. A page counts as hugetlb
if its mapping has a large page size (reserved, untouched pages of .bss count too), and as thp if it
is in a block of 2 MiB that the kernel marks as a transparent huge page and that is contiguous in
physical memory, as far as smaps agrees (AnonHugePages). The kernel shows frames only with
CAP_SYS_ADMIN, which root of a container lacks: then smaps is trusted. Shares no code with libmpg.

Exit status: 0, 1 if a share is not reached, 2 if the program failed.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
from typing import Callable, Dict, Iterator, List, Optional, Tuple

from mpgtest.options import parse as parse_options

PAGE = os.sysconf("SC_PAGE_SIZE")
HUGE = 2 << 20
KPF_ANON, KPF_HUGE, KPF_THP = 12, 17, 22
PRESENT, PFN_MASK = 1 << 63, (1 << 55) - 1

Range = Tuple[int, int]


def read_regions(path: str) -> Tuple[Dict[str, List[Range]], int, int]:
    """Regions by link address, and the file offset 0's address, machine."""
    with open(path, "rb") as file:
        image = file.read(1 << 16)
    machine, offset = struct.unpack_from("<H", image, 18)[0], 32
    phoff = struct.unpack_from("<Q", image, offset)[0]
    phentsize, phnum = struct.unpack_from("<HH", image, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", image, phoff + i * phentsize) for i in range(phnum)]
    relro = [(h[3], h[3] + h[6]) for h in headers if h[0] == 0x6474E552]
    regions: Dict[str, List[Range]] = {"data": [], "bss": []}
    base = min(h[3] - h[2] for h in headers if h[0] == 1)
    for kind, flags, _, start, _, filesz, memsz, _ in headers:
        if kind != 1 or not flags & 2:
            continue
        for low, high in relro:
            if low <= start < high:
                cut = min(high - start, memsz)
                start, memsz = start + cut, memsz - cut
                filesz = max(0, filesz - cut)
        if filesz:
            regions["data"].append((start, start + filesz))
        if memsz > filesz:
            regions["bss"].append((start + filesz, start + memsz))
    return regions, base, machine


class Maps:
    """The mappings of a process, with the fields of smaps."""

    def __init__(self, pid: int) -> None:
        self.mappings: List[dict] = []
        with open(f"/proc/{pid}/smaps") as file:
            for line in file:
                words = line.split()
                if "-" in words[0] and not words[0].endswith(":"):
                    start, end = (int(x, 16) for x in words[0].split("-"))
                    self.mappings.append(
                        {
                            "start": start,
                            "end": end,
                            "offset": int(words[2], 16),
                            "name": " ".join(words[5:]),
                            "perms": words[1],
                        }
                    )
                elif len(words) == 3 and words[2] == "kB":
                    self.mappings[-1][words[0][:-1]] = int(words[1]) << 10

    def load_address(self, path: str) -> int:
        """Where offset 0 of the file is mapped."""
        path = os.path.realpath(path)
        for mapping in self.mappings:
            if mapping["name"] == path and mapping["offset"] == 0:
                return mapping["start"]
        raise SystemExit(f"pagemap.py: {path} is not mapped")

    def within(self, low: int, high: int) -> Iterator[Tuple[int, int, dict]]:
        for mapping in self.mappings:
            start, end = max(low, mapping["start"]), min(high, mapping["end"])
            if start < end:
                yield start, end, mapping


class Pages:
    """Page frames of a process."""

    def __init__(self, pid: int) -> None:
        self.pagemap = os.open(f"/proc/{pid}/pagemap", os.O_RDONLY)
        self.flags: Optional[int] = None

    def frames(self, start: int, end: int) -> List[Optional[int]]:
        """Of each page: 0 if it is there but not shown, None if it is not."""
        first, count = start // PAGE, (end - start + PAGE - 1) // PAGE
        raw = os.pread(self.pagemap, count * 8, first * 8)
        words = struct.unpack(f"<{len(raw) // 8}Q", raw)
        return [w & PFN_MASK if w & PRESENT else None for w in words]

    def has_flag(self, frame: int, bit: int) -> bool:
        if self.flags is None:
            self.flags = os.open("/proc/kpageflags", os.O_RDONLY)
        raw = os.pread(self.flags, 8, frame * 8)
        return bool(struct.unpack("<Q", raw)[0] >> bit & 1)

    def thp_bytes(self, start: int, end: int) -> int:
        """Bytes of [start, end) in whole transparent huge pages."""
        total = 0
        for block in range(start & -HUGE, end, HUGE):
            frames = self.frames(block, block + HUGE)
            first = frames[0] if frames else None
            if first == 0:
                total += min(end, block + HUGE) - max(start, block)
            if not first or first % (HUGE // PAGE):
                continue
            if frames != list(range(first, first + HUGE // PAGE)):
                continue
            # The page cache has large blocks, too, mapped by base pages.
            if self.has_flag(first, KPF_THP) and self.has_flag(first, KPF_ANON):
                total += min(end, block + HUGE) - max(start, block)
        return total

    def first_is_hugetlb(self, start: int, end: int) -> bool:
        """False if a present page contradicts smaps."""
        for frame in self.frames(start, end)[:: HUGE // PAGE]:
            if frame:
                return self.has_flag(frame, KPF_HUGE)
        return True


def measure(pid: int, path: str) -> Dict[str, Dict[str, int]]:
    regions, base, _ = read_regions(path)
    maps, pages = Maps(pid), Pages(pid)
    bias = maps.load_address(path) - base
    result = {}
    for name, ranges in regions.items():
        sums = {"bytes": 0, "hugetlb": 0, "thp": 0, "mapped": 0, "mappings": 0}
        for low, high in ranges:
            sums["bytes"] += high - low
            for start, end, mapping in maps.within(low + bias, high + bias):
                sums["mapped"] += end - start
                sums["mappings"] += 1
                if mapping.get("KernelPageSize", 0) >= HUGE:
                    if pages.first_is_hugetlb(start, end):
                        sums["hugetlb"] += end - start
                else:
                    thp = pages.thp_bytes(start, end)
                    sums["thp"] += min(thp, mapping.get("AnonHugePages", 0))
        result[name] = sums
    result["all"] = {
        key: sum(result[name][key] for name in regions)
        for key in ("bytes", "hugetlb", "thp", "mapped", "mappings")
    }
    return result


def read_memory(pid: int) -> Dict[str, int]:
    names = ("VmHWM", "VmRSS", "HugetlbPages", "VmPeak", "VmSize")
    found = {}
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key in names:
                found[key] = int(value.split()[0]) << 10
    return found


def run(
    command: List[str],
    path: str,
    environment: Optional[Dict[str, str]] = None,
    preexec: Optional[Callable[[], None]] = None,
) -> Tuple[dict, int, str]:
    """Starts the program, inspects it, and lets it end.

    Returns the findings (empty if it did not reach `ready`), the exit status, and all of its
    output.
    """
    process = subprocess.Popen(
        command,
        env=environment,
        preexec_fn=preexec,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stdin
    line = process.stdout.readline()
    result: dict = {}
    if line.strip() == "ready":
        result = measure(process.pid, path)
        result["memory"] = read_memory(process.pid)
    out, err = process.communicate(timeout=600)
    return result, process.returncode, line + out + err


def parse(name: str) -> Tuple[str, float]:
    region, _, value = name.partition("=")
    if region not in ("data", "bss", "all"):
        raise argparse.ArgumentTypeError(f"'{region}' is not data, bss, or all")
    return region, float(value.rstrip("%"))


def check(options: argparse.Namespace, result: dict) -> List[str]:
    wanted = ("hugetlb", "thp") if options.kind == "any" else (options.kind,)
    problems = []
    for region, share in options.min:
        have = sum(result[region][kind] for kind in wanted)
        total = result[region]["bytes"]
        if have * 100 < share * total:
            problems.append(f"{region}: {have} of {total} bytes, not {share:g} %")
    for region, most in options.max_normal:
        have = sum(result[region][kind] for kind in wanted)
        if result[region]["bytes"] - have > most:
            problems.append(
                f"{region}: {result[region]['bytes'] - have} bytes are not on"
                f" large pages, allowed are {most:g}"
            )
    return problems


def main() -> int:
    limits = {"type": parse, "action": "append", "default": []}
    options = parse_options(__doc__, "command*", json=False, min=limits, max_normal=limits, pid=0,
                            kind={"choices": ("hugetlb", "thp", "any"), "default": "any"},
                            program=None)
    if options.pid:
        path = options.program or os.readlink(f"/proc/{options.pid}/exe")
        result = measure(options.pid, path)
        result["memory"] = read_memory(options.pid)
    else:
        path = options.program or options.command[0]
        result, status, text = run(options.command, path)
        sys.stderr.write(text)
        if status or not result:
            print(f"pagemap.py: the program ended with {status}", file=sys.stderr)
            return 2
    if options.json:
        print(json.dumps(result))
    else:
        for region in ("data", "bss"):
            sums = result[region]
            print(
                f"{region}: {sums['bytes']} bytes, {sums['hugetlb']} on hugetlb"
                f" pages, {sums['thp']} on transparent huge pages"
            )
    problems = check(options, result)
    for problem in problems:
        print(f"pagemap.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
