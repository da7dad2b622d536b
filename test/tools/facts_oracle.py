#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares `kind` and every key of `facts` of mpgaudit with GNU readelf.

readelf is the only source of truth here: this file reads no ELF structure
itself and shares no code with mpgaudit, so a wrong offset, a wrong rounding or
a wrong rule in mpgaudit cannot hide behind the same mistake on this side.

Two kinds of input: files of this machine, chosen by a seed with a minimum number of each kind, and
(--make) small programs of every kind built for both machines with each available compiler and
linker, half of them with each seed. Their builder is at the end of this file; damage.py takes its
base files from it. A printed difference names the file, the key and both answers.

A finding of damage (MPG9xx) in a file that readelf reads without a complaint is a difference, too.
The reverse is not checked: readelf repairs what it can and goes on; damage.py is the judge of
damaged files.
"""

import collections
import dataclasses
import itertools
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
from typing import Dict, Iterable, Iterator, List, Optional, Tuple

from mpgtest.options import parse

HUGE_BYTES = 2 << 20
FACT_MACHINES = {"Advanced Micro Devices X86-64": "x86-64", "AArch64": "aarch64"}
PROGRAM_KINDS = ("exec", "static", "pie", "static-pie", "library")
BRK_NAMES = ("brk", "sbrk", "__brk", "__sbrk", "__curbrk")
MIN_PER_KIND = 10
MAX_SAMPLED_ARCHIVE_BYTES = 16 << 20
FOUND_ROOTS = ["/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32",
               "/usr/libexec", "/usr/aarch64-linux-gnu", "/usr/local"]
REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@dataclasses.dataclass
class Load:
    """One program header as readelf prints it (PT_LOAD or PT_GNU_RELRO)."""
    offset: int
    vaddr: int
    memsz: int
    filesz: int
    flags: int  # PF_X = 1, PF_W = 2, PF_R = 4; readelf shows no other bit.
    align: int

    @property
    def writable(self) -> bool:
        return bool(self.flags & 2)


@dataclasses.dataclass
class ReadElf:
    """readelf's output for one file or archive member."""
    member: Optional[str] = None
    bits: int = 0
    little_endian: bool = False
    type: str = ""
    machine: str = ""
    loads: List[Load] = dataclasses.field(default_factory=list)
    relro: List[Load] = dataclasses.field(default_factory=list)
    interp: Optional[str] = None
    has_interp: bool = False
    exec_stack: bool = False
    has_sections: bool = False
    section_bytes: Dict[str, int] = dataclasses.field(default_factory=dict)
    nobits: set = dataclasses.field(default_factory=set)
    has_dynamic: bool = False
    needed: List[str] = dataclasses.field(default_factory=list)
    strings: Dict[str, str] = dataclasses.field(default_factory=dict)
    pie_flag: bool = False
    textrel: bool = False
    undefined: set = dataclasses.field(default_factory=set)
    shows_symbols: bool = True  # readelf finds none of a program at fixed addresses

    @property
    def full(self) -> bool:
        """True where mpgaudit promises more than header facts."""
        return (self.bits == 64 and self.little_endian and self.machine in FACT_MACHINES)


HEX = r"0x([0-9a-f]+)"
SEGMENT_LINE = re.compile(
    rf"^\s+(LOAD|INTERP|GNU_RELRO|GNU_STACK)\s+{HEX} {HEX} {HEX} {HEX} {HEX} "
    r"([R ])([W ])([E ]) (?:0x)?([0-9a-f]+)\s*$")
SECTION_LINE = re.compile(
    r"^\s*\[\s*\d+\] (\S*)\s+(.+?)\s+(?:[0-9a-f]{16}|[0-9a-f]{8}) "
    r"([0-9a-f]{6,}) ([0-9a-f]{6,}) ")
DYNAMIC_LINE = re.compile(r"^ 0x[0-9a-f]+ \((\w+)\)\s+(.*)$")
BRACKETED = re.compile(r"\[(.*)\]\s*$")
UNDEFINED_BRK = re.compile(r"\sUND (" + "|".join(BRK_NAMES) + r")(?:@\S+)?(?: \(\d+\))?\s*$")
HEADER_LINE = re.compile(r"^  ([A-Z][\w/ ]*):\s+(.*)$")
INTERP_LINE = re.compile(r"^\s+\[Requesting program interpreter: (.*)\]$")
STRING_TAGS = {"SONAME": "soname", "RPATH": "rpath", "RUNPATH": "runpath"}


def read_segment(elf: ReadElf, found: "re.Match[str]") -> None:
    """Keeps one line of the program header table."""
    numbers = [int(found.group(i), 16) for i in range(2, 7)]
    flags = sum(bit for bit, group in ((4, 7), (2, 8), (1, 9)) if found.group(group) != " ")
    segment = Load(numbers[0], numbers[1], numbers[4], numbers[3], flags, int(found.group(10), 16))
    name = found.group(1)
    if name == "LOAD":
        elf.loads.append(segment)
    elif name == "GNU_RELRO":
        elf.relro.append(segment)
    elif name == "GNU_STACK":
        elf.exec_stack = elf.exec_stack or bool(flags & 1)
    else:
        elf.has_interp = True


def read_dynamic(elf: ReadElf, tag: str, text: str) -> None:
    """Keeps one line of the dynamic section."""
    value = BRACKETED.search(text)
    if tag == "NEEDED" and value:
        elf.needed.append(value.group(1))
    elif tag in STRING_TAGS and value:
        elf.strings[STRING_TAGS[tag]] = value.group(1)
    elif tag == "TEXTREL" or (tag == "FLAGS" and "TEXTREL" in text.split()):
        elf.textrel = True
    elif tag == "FLAGS_1" and "PIE" in text.split():
        elf.pie_flag = True


def read_header(elf: ReadElf, name: str, text: str) -> None:
    """Keeps one line of the file header."""
    if name == "Class":
        elf.bits = {"ELF64": 64, "ELF32": 32}.get(text, 0)
    elif name == "Data":
        elf.little_endian = "little endian" in text
    elif name == "Type" and not elf.type:
        elf.type = text.split()[0]
    elif name == "Machine":
        elf.machine = text


def read_line(elf: ReadElf, line: str) -> None:
    """Keeps one line of readelf's output, whichever table it belongs to."""
    if found := SEGMENT_LINE.match(line):
        read_segment(elf, found)
    elif found := INTERP_LINE.match(line):
        elf.interp = found.group(1)
    elif found := SECTION_LINE.match(line):
        name, kind, size = found.group(1), found.group(2), found.group(4)
        # Several sections of one name are legal in objects.
        elf.section_bytes[name] = (elf.section_bytes.get(name, 0) + int(size, 16))
        if kind == "NOBITS":
            elf.nobits.add(name)
    elif line.startswith("Section Headers:"):
        elf.has_sections = True
    elif line.startswith("Dynamic section at offset"):
        elf.has_dynamic = True
    elif found := DYNAMIC_LINE.match(line):
        read_dynamic(elf, found.group(1), found.group(2))
    elif found := UNDEFINED_BRK.search(line):
        elf.undefined.add(found.group(1))
    elif found := HEADER_LINE.match(line):
        read_header(elf, found.group(1), found.group(2))


def run_readelf(options: List[str], paths: List[str]) -> Tuple[str, bool]:
    """readelf's output, and whether it complained about anything."""
    done = subprocess.run(["readelf", "-W", *options, "--", *paths],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "LC_ALL": "C"}, check=False)
    return done.stdout.decode("utf-8", "surrogateescape"), bool(done.stderr)


def parse_readelf(text: str) -> Iterator[ReadElf]:
    """Splits readelf's output into files (or archive members)."""
    elf: Optional[ReadElf] = None
    label: Optional[str] = None
    for line in text.split("\n"):
        if line.startswith("File: "):
            label = line[len("File: "):]
        elif line == "ELF Header:":
            if elf:
                yield elf
            elf = ReadElf(member=label)
        elif elf:
            read_line(elf, line)
    if elf:
        yield elf


def read_file(path: str) -> Tuple[List[ReadElf], bool]:
    """Everything needed from one file, one entry or one per member; and
    whether readelf found something wrong."""
    text, complained = run_readelf(["-h", "-l", "-d", "-S", "--dyn-syms"], [path])
    elves = list(parse_readelf(text))
    for elf in elves:
        # Without section headers the symbols are reached only through the
        # dynamic section, which readelf uses when told to.
        if elf.has_dynamic and not elf.has_sections:
            text = run_readelf(["-D", "-s"], [path])[0]
            elf.shows_symbols = "symbol information is not available" not in text
            for line in text.split("\n"):
                if found := UNDEFINED_BRK.search(line):
                    elf.undefined.add(found.group(1))
    return elves, complained


def is_debug_only(elf: ReadElf) -> bool:
    """A detached debug file keeps its section table but not the bytes."""
    return not elf.nobits.isdisjoint((".text", ".interp", ".dynamic"))


def find_kind(elf: ReadElf) -> str:
    """The kind of a file, decided as the user would, not by e_type alone."""
    if not elf.full:
        return "other-machine"
    if elf.type == "CORE":
        return "core"
    if elf.type == "REL":
        return "archive-member" if elf.member else "object"
    if is_debug_only(elf):
        return "debug"
    if elf.type == "EXEC":
        return "exec" if elf.has_interp else "static"
    if elf.pie_flag:
        return "pie" if elf.has_interp else "static-pie"
    if elf.has_interp and "soname" not in elf.strings:
        return "pie"
    return "library"


def rounded(load: Load, bytes_: int) -> Tuple[int, int]:
    """The address range of `load`, rounded out to multiples of `bytes_`."""
    end = load.vaddr + load.memsz
    return load.vaddr // bytes_ * bytes_, -(-end // bytes_) * bytes_


def overlap_pairs(loads: List[Load], page_bytes: int = 4096) -> List[List[int]]:
    """Neighbours in the table of which one is writable and both touch the
    same huge page."""
    pairs = []
    for i in range(1, len(loads)):
        grain = [HUGE_BYTES if load.writable else page_bytes for load in loads[i - 1:i + 1]]
        if max(grain) < HUGE_BYTES:
            continue
        if rounded(loads[i - 1], grain[0])[1] > rounded(loads[i], grain[1])[0]:
            pairs.append([i - 1, i])
    return pairs


def interior_bytes(elf: ReadElf) -> int:
    """Whole frames inside writable segments that RELRO does not touch."""
    total = 0
    for load in elf.loads:
        if not load.writable:
            continue
        first = -(-load.vaddr // HUGE_BYTES)
        end = (load.vaddr + load.memsz) // HUGE_BYTES
        lost = set()
        for relro in elf.relro:
            if relro.memsz:
                low, high = rounded(relro, HUGE_BYTES)
                lost.update(range(max(first, low // HUGE_BYTES), min(end, high // HUGE_BYTES)))
        total += max(0, end - first - len(lost)) * HUGE_BYTES
    return total


def load_facts(elf: ReadElf, kind: str, target: str) -> Dict[str, object]:
    """Facts that follow from the program headers."""
    writable = [load for load in elf.loads if load.writable]
    spans = [rounded(load, HUGE_BYTES) for load in writable]
    huge = counted = 0  # a page that two segments share counts once
    for low, high in sorted(spans):
        huge += max(0, high - max(low, counted))
        counted = max(counted, high)
    peak = {"fugaku": 2 * huge, "mpg": huge + (64 << 20)}.get(target, huge)
    facts: Dict[str, object] = {
        "load": [{"index": i, "offset": load.offset, "vaddr": load.vaddr,
                  "memsz": load.memsz, "filesz": load.filesz,
                  "flags": load.flags, "align": load.align}
                 for i, load in enumerate(elf.loads)],
        "overlap": overlap_pairs(elf.loads),
        "writable_bytes": sum(load.memsz for load in writable),
        "huge_bytes": huge,
        "interior_bytes": interior_bytes(elf),
        "startup_peak_bytes": peak,
        "max_page": min(load.align for load in elf.loads),
        "rwx": any(load.flags & 3 == 3 for load in elf.loads),
        "execstack": elf.exec_stack,
    }
    if kind in PROGRAM_KINDS:
        facts["pie"] = kind in ("pie", "static-pie")
        facts["textrel"] = elf.textrel
    return facts


def find_facts(elf: ReadElf, kind: str, target: str) -> Dict[str, object]:
    """All facts about `elf`; a key is absent if it does not apply. `target` is the one that
    mpgaudit resolved for the file."""
    facts = load_facts(elf, kind, target) if elf.loads else {}
    if not elf.full:
        return facts
    if elf.has_sections:
        facts["data_bytes"] = elf.section_bytes.get(".data", 0)
        facts["bss_bytes"] = elf.section_bytes.get(".bss", 0)
    if kind == "debug":
        return facts
    if elf.has_dynamic:
        facts["brk"] = sorted(elf.undefined)
        facts["needed"] = elf.needed
        facts.update(elf.strings)
    if elf.interp is not None:
        facts["interp"] = elf.interp
    return facts


def differences(path: str, record: dict, elf: ReadElf) -> List[str]:
    """Differences between mpgaudit's file object and readelf."""
    kind = find_kind(elf)
    name = f"{path}({elf.member})" if elf.member else path
    found = []
    if record.get("kind") != kind:
        found.append(f"{name}: kind: mpgaudit {record.get('kind')}, readelf {kind}")
    if elf.machine in FACT_MACHINES:
        machine = FACT_MACHINES[elf.machine]
        if record.get("machine") != machine:
            found.append(f"{name}: machine: mpgaudit {record.get('machine')}, "
                         f"readelf {machine}")
    expected = find_facts(elf, kind, record.get("target", ""))
    actual = record.get("facts", {})
    for load in actual.get("load", []):
        load["flags"] &= 7  # readelf shows no other bit.
    for key in sorted(set(expected) | set(actual)):
        if key == "brk" and not elf.shows_symbols:
            continue
        ours, theirs = actual.get(key, "absent"), expected.get(key, "absent")
        # True == 1 in Python; the contract distinguishes bool and integer.
        if ours != theirs or type(ours) is not type(theirs):
            found.append(f"{name}: {key}: mpgaudit {ours}, readelf {theirs}")
    return found


def record_path(record: dict) -> str:
    """The path as the file system has it, not as JSON could show it."""
    if "path_bytes" in record:
        raw = bytes.fromhex(record["path_bytes"])
        return raw.decode("utf-8", "surrogateescape")
    return record["path"]


def run_mpgaudit(tool: str, paths: List[str]) -> List[dict]:
    """The file objects for `paths`, in order; ends the program when mpgaudit
    dies or prints anything else."""
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    done = subprocess.run(
        [tool, "--format=jsonl", "--no-closure", "--files0-from=-"],
        input=names, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        check=False)
    if done.returncode not in (0, 1, 2) or not done.stdout:
        sys.exit(f"facts_oracle.py: {tool} ended with {done.returncode}: "
                 f"{done.stderr.decode(errors='replace')[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def group_records(records: Iterable[dict], paths: List[str]) -> Dict[str, List[dict]]:
    """File objects by operand; members are called `archive(member)`."""
    wanted = set(paths)
    groups: Dict[str, List[dict]] = collections.defaultdict(list)
    for record in records:
        path = record_path(record)
        if path not in wanted and path.endswith(")"):
            # Member names may hold a parenthesis as well: the operand is the
            # longest prefix that was asked for.
            ends = [i for i, c in enumerate(path) if c == "("]
            path = next((path[:i] for i in reversed(ends) if path[:i] in wanted), path)
        groups[path].append(record)
    return groups


def false_alarms(records: List[dict]) -> List[str]:
    """MPG9xx findings for a file in which readelf found nothing wrong."""
    return [f"{record_path(record)}: {finding['id']} \"{finding['title']}\", "
            "but readelf is content"
            for record in records for finding in record.get("findings", [])
            if finding["id"].startswith("MPG9")]


def compare_file(path: str, records: List[dict], kinds: "collections.Counter[str]") -> List[str]:
    """Compares one operand; counts what was compared in `kinds`."""
    elves, complained = read_file(path)
    is_archive = starts_as_archive(path)
    if not elves and is_archive:
        # Empty, or without ELF members: healthy unless readelf disagrees.
        kinds["archive without ELF"] += 1
        return [] if complained else false_alarms(records)
    if not elves:
        kinds["not-elf"] += 1
        return [f"{path}: kind: mpgaudit {record.get('kind')}, readelf not-elf"
                for record in records if record.get("kind") != "not-elf"]
    for elf in elves:
        # readelf prints "libx.a(member.o)"; without an archive it prints nothing or, for several
        # files, the path. Names in archives of Go are padded with blanks, which readelf prints and
        # ar does not.
        elf.member = (elf.member[len(path) + 1:-1].rstrip(" ")
                      if is_archive and elf.member else None)
    elf_records = [r for r in records if r.get("kind") != "not-elf"]
    if len(elf_records) != len(elves):
        return [f"{path}: mpgaudit has {len(elf_records)} objects, readelf {len(elves)}"]
    found = [] if complained else false_alarms(elf_records)
    for record, elf in zip(elf_records, elves):
        kinds[find_kind(elf)] += 1
        if elf.member and not record_path(record).endswith(f"({elf.member})"):
            found.append(f"{path}: member: mpgaudit {record_path(record)}, "
                         f"readelf {elf.member}")
        found += differences(path, record, elf)
    return found


def first_bytes(path: str) -> bytes:
    """The first eight bytes, none when unreadable."""
    try:
        with open(path, "rb") as file:
            return file.read(8)
    except OSError:
        return b""


def starts_as_archive(path: str) -> bool:
    return first_bytes(path).startswith(b"!<arch>\n")


def find_files(roots: List[str]) -> List[str]:
    """Regular files below `roots`."""
    found = {}
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in names:
                path = os.path.join(folder, name)
                try:
                    info = os.lstat(path)
                except OSError:
                    continue
                # Hard links are one file.
                if stat.S_ISREG(info.st_mode) and "\n" not in path:
                    found.setdefault((info.st_dev, info.st_ino), path)
    return sorted(found.values())


def is_candidate(path: str) -> bool:
    """Whether the file begins as ELF or as an archive."""
    return first_bytes(path).startswith((b"\x7fELF", b"!<arch>\n"))


def classify(paths: List[str]) -> Dict[str, Tuple[str, str]]:
    """(kind, machine) of every ELF file, without the slow symbol tables."""
    kinds = {}
    for start in range(0, len(paths), 200):
        batch = paths[start:start + 200]
        # One extra operand: readelf names its files only when there are two.
        text, _ = run_readelf(["-h", "-l", "-d", "-S"], batch + ["/dev/null"])
        for elf in parse_readelf(text):
            path, elf.member = elf.member or "", None
            kinds[path] = (find_kind(elf), elf.machine)
    return kinds


def choose(files: List[str], count: int, seed: int) -> List[str]:
    """`count` candidates by seed, then as many more as it takes to have
    MIN_PER_KIND of each kind and machine, as far as five times as many have them."""
    rng = random.Random(seed)
    candidates = list(itertools.islice(
        filter(is_candidate, rng.sample(files, len(files))), 5 * count))
    archives = [path for path in candidates if starts_as_archive(path)]
    plain = sorted(set(candidates) - set(archives))
    kinds = classify(plain)
    kinds.update((path, ("archive", "")) for path in archives
                 if os.path.getsize(path) <= MAX_SAMPLED_ARCHIVE_BYTES)
    order = sorted(kinds)
    rng.shuffle(order)
    have = collections.Counter(kinds[path] for path in order[:count])
    chosen = order[:count]
    for path in order[count:]:
        if have[kinds[path]] < MIN_PER_KIND:
            have[kinds[path]] += 1
            chosen.append(path)
    return chosen


def choose_scripts(folder: str, seed: int) -> List[str]:
    """A few files of `folder` that are not ELF at all."""
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    scripts = [path for path in paths if not os.path.islink(path)
               and os.path.isfile(path) and first_bytes(path)[:2] == b"#!"]
    random.Random(seed).shuffle(scripts)
    return scripts[:MIN_PER_KIND]


# Own programs: every kind, both machines, each compiler and linker at hand.

SOURCES = {
    "plain": "#include <stdio.h>\nint table[1000] = {1};\nint grid[5000];\n"
             "int main(void) { return puts(\"x\") + table[3] + grid[1]; }\n",
    "large": "int table[3 << 18] = {1};\nint grid[9 << 18];\n"
             "int main(void) { return table[3] + grid[4]; }\n",
    "brk": "#define _DEFAULT_SOURCE\n#include <unistd.h>\nint table[600000];\n"
           "int main(void) { return brk(sbrk(0)) + table[1]; }\n",
    "curbrk": "extern void *__curbrk;\nextern void *__sbrk(long);\n"
              "static _Thread_local int tls[4000];\n"
              "int main(void) { return __sbrk(0) == __curbrk && tls[1]; }\n",
    "textrel": "int table[9];\nint main(void) { return table[3]; }\n"
               "__asm__(\".text\\n.p2align 3\\n.quad table\\n\");\n",
    "empty": "const int nothing = 1;\nint main(void) { return 0; }\n",
}
# (compiler, linker, source, linker options). Ten per kind and machine, and each option once; skips
# an option that no linker here knows.
RECIPES = [
    ("gcc", "bfd", "plain", []),
    ("gcc", "lld", "large", ["-z", "max-page-size=2097152"]),
    ("gcc", "mold", "brk", ["-rpath", "$ORIGIN/../lib:/opt/lib"]),
    ("clang", "lld", "curbrk", ["-z", "max-page-size=65536"]),
    ("clang", "bfd", "large", ["-z", "max-page-size=2097152"]),
    ("clang", "mold", "large", ["-z", "norelro"]),
    ("gcc", "bfd", "textrel", ["-z", "notext", "-z", "execstack"]),
    ("gcc", "bfd", "brk", ["-z", "noseparate-code", "-rpath", "/opt/lib",
                           "--disable-new-dtags"]),
    ("clang", "lld", "textrel", ["-z", "notext", "-z", "rodynamic"]),
    ("gcc", "lld", "empty", ["-z", "separate-loadable-segments"]),
    ("gcc", "bfd", "plain", ["-z", "relro", "-z", "now",
                             "-z", "max-page-size=2097152"]),
    ("gcc", "bfd", "large", ["-N"]),
    ("gcc", "gold", "brk", []),
    ("gcc", "gold", "large", ["-z", "max-page-size=2097152"]),
    ("clang", "lld", "plain", ["--omagic"]),
    ("gcc", "mold", "empty", ["-z", "separate-loadable-segments"]),
]
LINK_KINDS = {"exec": ["-no-pie"], "static": ["-static"], "pie": ["-pie"],
              "static-pie": ["-static-pie"], "library": ["-shared"]}
OTHER_MACHINES = ["i386", "arm", "riscv64", "powerpc64le", "powerpc64",
                  "s390x", "mips", "mips64el", "aarch64_be", "loongarch64",
                  "sparc64"]
TINY_SOURCE = ("int table[1000] = {1};\nint grid[70000];\n"
               "void _start(void) { for (;;) grid[table[1]]++; }\n")


class Builder:
    """Builds sample programs into one folder; remembers what came out."""

    def __init__(self, folder: str, machine: str):
        self.folder = os.path.join(folder, machine)
        self.machine = machine
        native = machine == os.uname().machine
        self.prefix = "" if native else f"{machine}-linux-gnu-"
        self.made: List[str] = []
        os.makedirs(self.folder, exist_ok=True)
        for name, text in SOURCES.items():
            with open(self.path(name + ".c"), "w", encoding="ascii") as file:
                file.write(text)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def run(self, command: List[str], result: str) -> bool:
        """Runs `command`; false (and no file) when a tool refuses."""
        done = subprocess.run(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            self.made.append(result)
            return True
        if os.path.exists(result):
            os.remove(result)
        return False

    def compiler(self, name: str) -> Optional[List[str]]:
        if name == "gcc":
            path = shutil.which(self.prefix + "gcc")
            return [path] if path else None
        path = shutil.which("clang-22") or shutil.which("clang")
        return [path, f"--target={self.machine}-linux-gnu"] if path else None

    def linker_folder(self, name: str) -> Optional[str]:
        """A folder whose `ld` is the linker: gcc and clang both obey -B."""
        names = {"bfd": [self.prefix + "ld.bfd"],
                 "gold": [self.prefix + "ld.gold"],
                 "lld": ["ld.lld-22", "ld.lld"], "mold": ["mold"]}[name]
        real = next(filter(None, map(shutil.which, names)), None)
        if not real:
            return None
        folder = self.path("linker-" + name)
        os.makedirs(folder, exist_ok=True)
        link = os.path.join(folder, "ld")
        if not os.path.lexists(link):
            os.symlink(real, link)
        return folder

    def compiled(self, name: str, command: List[str], source: str) -> str:
        """The object of a source, once for all programs that take the same."""
        path = self.path(f"{name}{command[-1]}-{source}.o")
        if not os.path.exists(path):
            # The folder's name stays out of the debug info, so that the same
            # tools make the same bytes wherever the samples are built.
            subprocess.run(
                [*command, "-O1", "-g", f"-ffile-prefix-map={self.folder}=.",
                 "-fdebug-compilation-dir=." if name == "clang"
                 else "-fno-working-directory", "-c", self.path(source + ".c"),
                 "-o", path], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, check=False)
        return path

    def link(self, kind: str, number: int) -> None:
        """One program of `kind` by RECIPES[`number`]."""
        compiler_name, linker, source, options = RECIPES[number]
        compiler, folder = (self.compiler(compiler_name), self.linker_folder(linker))
        if not compiler or not folder:
            return
        position = {"pie": ["-fPIE"], "static-pie": ["-fPIE"],
                    "library": ["-fPIC"]}.get(kind, ["-fno-pie"])
        result = self.path(f"{kind}-{number}-{compiler_name}-{linker}-{source}")
        if kind == "library" and number % 2:
            options = options + ["-soname", f"libsample{number}.so.1"]
        compiled = self.compiled(compiler_name, compiler + position, source)
        self.run([*compiler, "-B" + folder, *position,
                  *LINK_KINDS[kind], compiled, "-o", result,
                  *[f"-Wl,{option}" for option in options]], result)

    def make_objects(self) -> None:
        """Objects in several code models, and archives of them."""
        objects = []
        for name in ("gcc", "clang"):
            compiler = self.compiler(name)
            for source in SOURCES if compiler else ():
                result = self.path(f"{source}-{name}.o")
                flags = ["-fPIC", "-ffunction-sections", "-fdata-sections"]
                if self.run([*compiler, "-c", self.path(source + ".c"), "-o",
                             result, *flags[:len(objects) % 4]], result):
                    objects.append(result)
        for i, first in enumerate(objects):
            result = self.path(f"libsample{i}.a")
            self.run(["ar", "rcs", result, first, objects[(i + 5) % len(objects)]], result)

    def strip_copies(self) -> None:
        """Detached debug files, and programs without section headers."""
        keep = self.prefix + "objcopy"
        for path in [p for p in self.made if "-gcc-" in p or "-clang-" in p]:
            self.run([keep, "--only-keep-debug", path, path + ".debug"], path + ".debug")
        strip = shutil.which("llvm-objcopy-22") or shutil.which("llvm-objcopy")
        for path in self.made[::7] if strip else ():
            if not path.endswith((".a", ".o", ".debug")):
                self.run([strip, "--strip-sections", path, path + ".bare"], path + ".bare")

    def make_tiny(self) -> None:
        """Programs of a few KiB without a C library."""
        compiler, folder = self.compiler("gcc"), self.linker_folder("bfd")
        with open(self.path("tiny.c"), "w", encoding="ascii") as file:
            file.write(TINY_SOURCE)
        for kind, flags in LINK_KINDS.items() if compiler and folder else ():
            result = self.path(f"{kind}-tiny")
            pic = [] if kind in ("exec", "static") else ["-fPIC"]
            self.run([*compiler, "-O1", "-nostdlib", "-B" + folder, *pic,
                      *flags, "-Wl,-z,max-page-size=4096",
                      self.path("tiny.c"), "-o", result], result)

    def make_all(self, seed: int) -> None:
        """Half of the programs; with the next seed the others."""
        programs = list(itertools.product(range(len(RECIPES)), LINK_KINDS))
        for number, kind in programs[seed % 2::2]:
            self.link(kind, number)
        self.make_tiny()
        self.strip_copies()
        self.make_objects()


def make_other_machines(folder: str) -> List[str]:
    """Objects and programs of machines that mpgaudit only recognises."""
    builder = Builder(os.path.join(folder, "other"), os.uname().machine)
    clang = shutil.which("clang-22") or shutil.which("clang")
    lld = shutil.which("ld.lld-22") or shutil.which("ld.lld")
    source = builder.path("tiny.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(TINY_SOURCE)
    for machine in OTHER_MACHINES if clang and lld else ():
        target = machine + "-linux-gnu"
        result = builder.path(machine + ".o")
        if builder.run([clang, f"--target={target}", "-c", source, "-o", result], result):
            linked = builder.path(machine)
            builder.run([lld, result, "-o", linked], linked)
            builder.run([lld, "-shared", "-z", "notext", result, "-o",
                         linked + ".so"], linked + ".so")
    return builder.made


def make_cores(folder: str) -> List[str]:
    """A core file per runnable program, where the system writes them."""
    cores = []
    for machine, runner in (("x86_64", []), ("aarch64", ["qemu-aarch64"])):
        program = os.path.join(folder, machine, "static-tiny")
        if machine != os.uname().machine and not shutil.which("qemu-aarch64"):
            continue
        place = os.path.join(folder, "cores-" + machine)
        os.makedirs(place, exist_ok=True)
        command = runner if machine != os.uname().machine else []
        # The program runs for ever; `timeout` ends it with a core.
        subprocess.run(["sh", "-c", 'ulimit -c unlimited; exec timeout '
                        '-s ABRT 0.2 "$@"', "sh", *command, program],
                       cwd=place, check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        cores += [os.path.join(place, name) for name in os.listdir(place)]
    return sorted(cores)


def make_samples(folder: str, seed: int) -> List[str]:
    """Builds own samples below `folder`; the files it made, sorted."""
    made = []
    for machine in ("x86_64", "aarch64"):
        builder = Builder(folder, machine)
        builder.make_all(seed)
        made += builder.made
    return sorted(made + make_other_machines(folder) + make_cores(folder))


def check_files(tool: str, paths: List[str]) -> int:
    """Compares `paths`, prints each difference and the closing line; the
    number of differences."""
    kinds: "collections.Counter[str]" = collections.Counter()
    difference_count = 0
    for start in range(0, len(paths), 100):
        batch = paths[start:start + 100]
        groups = group_records(run_mpgaudit(tool, batch), batch)
        for path in batch:
            for line in compare_file(path, groups.get(path, []), kinds):
                difference_count += 1
                print(line.encode("utf-8", "backslashreplace").decode())
    shown = ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items()))
    print(f"{len(paths)} files compared (kinds: {shown}), {difference_count} differences")
    return difference_count


def main() -> int:
    arguments = parse(__doc__, mpgaudit=os.path.join(REPO, "build/bin/mpgaudit"), seed=1,
                      count=300, root={"nargs": "+", "default": FOUND_ROOTS}, make=None)
    roots = [root for root in arguments.root if os.path.isdir(root)]
    if not roots:
        sys.exit(f"facts_oracle.py: no folder among {arguments.root}")
    paths = choose(find_files(roots), arguments.count, arguments.seed)
    paths += choose_scripts(roots[0], arguments.seed)
    if arguments.make:
        paths += make_samples(os.path.abspath(arguments.make), arguments.seed)
    difference_count = check_files(arguments.mpgaudit, paths)
    if len(paths) < arguments.count:
        print(f"facts_oracle.py: only {len(paths)} files found")
        return 1
    return 1 if difference_count else 0


if __name__ == "__main__":
    sys.exit(main())
