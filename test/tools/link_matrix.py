#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links programs in many ways and checks that the 2 MiB layout holds in each.

One row is a machine, a kind of output, a linker and a language, in every
combination, or one of the option sets below. For each row the tool

  * links with ld.mpg, or with lld or GNU ld and the script in linker-scripts/,
  * reads the program headers and sections with its own few lines: .data, .bss
    (.ldata, .lbss) begin at a multiple of 2 MiB, their segment ends at one and is
    aligned to 2 MiB, and no other segment has a byte in the same 2 MiB,
  * runs the result, with address randomisation and without; it checks its own
    values and grows the heap of brk,
  * runs mpgaudit: no MPG103, MPG150, MPG151, MPG152, and MPG102 as a note only,
  * for ld.mpg: reads the note, and compares the size, mapped and on disk, with a
    plain lld link.

C and C++ come from clang, Fortran from flang. GNU ld gets its users' usual input, the output of gcc
and gfortran: gfortran's COMMON blocks and runtime follow other layout rules than flang's.
arm64_sysroot fetches flang's needs for AArch64 once into BUILD/arm64-sysroot.

Prints one line a row and the number of rows; exits with 1 if one failed.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

from mpgtest.links import KINDS, LANGUAGES, MACHINES, compiler
from mpgtest.options import parse
from mpgtest.run import CommandError, output

HUGE = 2 << 20
GROWTH_APPARENT = int(2.2 * (1 << 20))
GROWTH_DISK = 64 << 10

LINKERS = ("ld.mpg", "lld", "bfd")
SUFFIXES = {"c": ".c", "c++": ".cpp", "fortran": ".f90"}

# Option sets beyond the kinds; with ld.mpg, C, PIE unless said otherwise.
OPTIONS = {
    "now": ["-Wl,-z,now"],
    "lazy": ["-Wl,-z,lazy"],
    "norelro": ["-Wl,-z,norelro"],
    "gc": ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
    "icf": ["-ffunction-sections", "-Wl,--icf=all"],
    "common": ["-fcommon"],
    "lto": ["-flto"],
    "thinlto": ["-flto=thin"],
    "lto-gc-now": ["-flto", "-Wl,--gc-sections", "-Wl,-z,now"],
    "emit-relocs": ["-Wl,--emit-relocs"],
    "zlib": ["-g", "-Wl,--compress-debug-sections=zlib"],
    "strip": ["-s"],
    "relr": ["-Wl,-z,pack-relative-relocs"],
    "separate-code": ["-Wl,-z,separate-code"],
    "max-page-64k": ["-Wl,-z,max-page-size=65536"],
    "no-rosegment": ["-Wl,--no-rosegment"],
    "group": ["-Wl,--start-group", "-Wl,--as-needed"],
}
# More than one hole of 2 MiB: .ldata begins on a border too; with separate-code
# the code does, and lld fills its last 2 MiB with trap instructions.
LARGE_HOLES = {"separate-code", "medium", "large"}
# --mpg-text with what could move, merge or drop code.
TEXT = ["-Wl,--mpg-text", "-Wl,--mpg-min=0"]
TEXT_OPTIONS = {
    "text": [],
    "text-lto": ["-flto"],
    "text-thinlto": ["-flto=thin"],
    "text-gc-icf": ["-ffunction-sections", "-Wl,--gc-sections", "-Wl,--icf=all"],
    "text-relr-now": ["-Wl,-z,pack-relative-relocs", "-Wl,-z,now"],
    "text-norelro": ["-Wl,-z,norelro"],
    "text-build-id": ["-Wl,--build-id=sha1"],
    "text-split-dwarf": ["-g", "-gsplit-dwarf", "-Wl,--gdb-index"],
    "text-strip": ["-s"],
    "text-no-rosegment": ["-Wl,--no-rosegment"],
    "text-separate-code": ["-Wl,-z,separate-code"],
}
TEXT_MACHINE_OPTIONS = {
    "x86-64": {"text-cet": ["-fcf-protection=full", "-Wl,-z,force-ibt"]},
    "aarch64": {"text-bti": ["-mbranch-protection=standard"]},
}
# The medium and large code models exist on x86-64 only.
MODELS = {"medium": ["-mcmodel=medium"], "large": ["-mcmodel=large"]}


@dataclasses.dataclass
class Row:
    machine: str
    kind: str
    linker: str
    language: str
    option: str = ""

    def name(self) -> str:
        parts = [self.machine, self.kind, self.linker, self.language, self.option]
        return " ".join(part for part in parts if part)


    def is_text(self) -> bool:
        return self.option.startswith("text")

    def option_flags(self) -> list[str]:
        if not self.is_text():
            return OPTIONS.get(self.option) or MODELS.get(self.option) or []
        return {**TEXT_OPTIONS, **TEXT_MACHINE_OPTIONS[self.machine]}[self.option]


class RowFailed(Exception):
    pass


class Elf:
    """Program headers and allocated sections of a 64-bit little-endian file."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            head = file.read(64)
            phoff, shoff = struct.unpack_from("<QQ", head, 32)
            phnum, _, shnum, shstrndx = struct.unpack_from("<HHHH", head, 56)
            file.seek(phoff)
            table = file.read(56 * phnum)
            file.seek(shoff)
            sections = [struct.unpack_from("<IIQQQQ", file.read(64)) for _ in range(shnum)]
            file.seek(sections[shstrndx][4])
            names = file.read(sections[shstrndx][5])
        self.loads = []
        self.relro = None
        for index in range(phnum):
            kind, flags, offset, address, _, _, size, align = struct.unpack_from(
                "<IIQQQQQQ", table, 56 * index
            )
            if kind == 1:
                self.loads.append((flags, offset, address, address + size, align))
            elif kind == 0x6474E552:
                self.relro = (address, address + size)
        self.sections = [
            (names[name : names.index(b"\0", name)].decode(), address, size)
            for name, _, flags, address, _, size in sections
            if flags & 2 and not flags & 0x400
        ]


def check_layout(path: str, expect_large: bool) -> None:
    elf = Elf(path)
    found = set()
    for name, address, size in elf.sections:
        if name not in (".data", ".bss", ".ldata", ".lbss"):
            continue
        load = [l for l in elf.loads if l[2] <= address and address + size <= l[3]]
        if len(load) != 1:
            raise RowFailed(f"{name} lies in {len(load)} segments")
        flags, offset, start, end, align = load[0]
        if name not in found and address % HUGE:
            raise RowFailed(f"{name} begins at {address:#x}")
        found.add(name)
        if end % HUGE:
            raise RowFailed(f"the segment of {name} ends at {end:#x}")
        if align < HUGE or (start - offset) % align:
            raise RowFailed(f"the segment of {name} has p_align {align:#x}")
        if flags != 6:
            raise RowFailed(f"the segment of {name} has flags {flags}")
        first, last = address // HUGE, (address + max(size, 1) - 1) // HUGE
        for other in elf.loads:
            if other is load[0] or other[2] == other[3]:
                continue
            if other[2] // HUGE <= last and (other[3] - 1) // HUGE >= first:
                raise RowFailed(f"{name} shares 2 MiB with {other[2]:#x}")
        start, end = elf.relro or (0, 0)
        if elf.relro and start // HUGE <= last and (end - 1) // HUGE >= first:
            raise RowFailed(f"{name} shares 2 MiB with RELRO")
    wanted = {".data", ".bss"} | ({".ldata", ".lbss"} if expect_large else set())
    if not wanted <= found:
        raise RowFailed(f"no {wanted - found}")


def check_text(path: str) -> None:
    """Code begins and ends on borders, in memory and in the file."""
    code = [load for load in Elf(path).loads if load[0] & 1]
    if len(code) != 1:
        raise RowFailed(f"{len(code)} segments of code")
    flags, offset, start, end, align = code[0]
    # With constants in it the segment begins with the headers.
    if flags != 5 or offset % HUGE or start % HUGE or end % HUGE or align < HUGE:
        raise RowFailed(f"code: {flags} {offset:#x} {start:#x}-{end:#x} {align:#x}")


def check_note(path: str) -> None:
    """.note.mpg.layout must say where the data is, relative to the image."""
    elf = Elf(path)
    place = {name: (address, size) for name, address, size in elf.sections}
    with open(path, "rb") as file:
        base = min(load[2] for load in elf.loads)
        file.seek(place[".note.mpg.layout"][0] - base)  # in the first segment
        note = file.read(64)
    head = struct.unpack_from("<III4sHHI", note)
    if head != (4, 48, 2, b"mpg\0", 1, 0, 0):
        raise RowFailed(f"the layout note begins with {head}")
    data, bss = place[".data"][0] - base, place[".bss"][0] - base
    end = max(l[3] for l in elf.loads if l[2] <= place[".bss"][0] < l[3]) - base
    found = struct.unpack_from("<QQQQQ", note, 24)
    if found != (HUGE, data, bss, bss, end):
        raise RowFailed(f"the layout note says {[hex(value) for value in found]}")


class Matrix:
    def __init__(self, build: str, source: str, out: str) -> None:
        self.build = os.path.abspath(build)
        self.tools = os.path.join(source, "test", "tools")
        self.inputs = os.path.join(source, "test", "ld.mpg", "Inputs")
        self.scripts = os.path.join(source, "linker-scripts")
        self.out = os.path.abspath(out)
        self.sysroot = ""
        self.setarch = ["setarch", "-R"]
        attempt = self.setarch + ["true"]
        if subprocess.run(attempt, stderr=subprocess.DEVNULL).returncode:
            print("setarch -R is not permitted: only with address randomisation")
            self.setarch = []

    def prepare(self, rows: list[Row]) -> None:
        """Fetches the AArch64 runtime of flang if a row needs it."""
        if any(self.wants_sysroot(row) for row in rows):
            folder = os.path.join(self.build, "arm64-sysroot")
            tool = os.path.join(self.tools, "arm64_sysroot")
            self.sysroot = output([tool, folder]).strip()

    @staticmethod
    def wants_sysroot(row: Row) -> bool:
        return (row.machine, row.language) == ("aarch64", "fortran") and (row.linker != "bfd")

    def compiler(self, row: Row) -> list[str]:
        command = compiler(row.machine, row.language, row.linker == "bfd")
        if self.wants_sysroot(row):
            command += ["-resource-dir", self.sysroot]
        return command

    def linker(self, row: Row) -> list[str]:
        linker = row.linker
        if linker == "ld.mpg":
            # Without libmpg: the size is compared with what lld makes.
            path = os.path.join(self.build, "bin", "ld.mpg")
            text = TEXT if row.is_text() else []
            return ["-fuse-ld=" + path, "-Wl,--mpg-runtime=no", *text]
        page = "-Wl,-z,max-page-size=2097152"
        if linker == "lld":
            return ["-fuse-ld=lld", page, f"-Wl,-T,{self.scripts}/mpg-2mb.lld.ld"]
        return [page, "-Wl,-z,noseparate-code", f"-Wl,-T,{self.scripts}/mpg-2mb.bfd.ld"]

    def flags(self, row: Row, kind: str) -> list[str]:
        flags = KINDS[kind] + row.option_flags()
        if row.linker == "lld":
            # The script for lld does not cover this, as its head states.
            flags = flags + ["-DWITHOUT_NOINIT"]
        return flags + (["-cpp"] if row.language == "fortran" else ["-pthread"])

    def compile(self, row: Row, kind: str, source: str, path: str) -> str:
        """Compiles a file of Inputs/ for a `kind` of output."""
        # flang lacks the option; its code is the same as for -pie.
        flags = ["-pie" if f == "-static-pie" else f for f in self.flags(row, kind)]
        if row.kind == "shared":
            flags.append("-DWITH_LIBRARY")
        source = os.path.join(self.inputs, source)
        output(self.compiler(row) + ["-O1", "-w", "-c", source, "-o", path] + flags)
        return path

    def link(self, row: Row, kind: str, files: list[str], path: str, linker: list[str]) -> str:
        command = self.compiler(row)
        if command[0] == "flang-22" and kind == "static-pie":
            # flang does not know it, clang does.
            command[0] = "clang-22"
            files = files + ["-lflang_rt.runtime", "-lm"]
        flags = [flag for flag in self.flags(row, kind) if flag != "-cpp"]
        output(command + ["-O1"] + flags + files + ["-o", path] + linker)
        return path

    def execute(self, row: Row, path: str) -> None:
        emulator = []
        if row.machine == "aarch64":
            emulator = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
        for prefix in [[]] + ([self.setarch] if self.setarch else []):
            if "values are right" not in output(prefix + emulator + [path]):
                raise RowFailed("the program did not say that its values are right")

    def audit(self, path: str) -> None:
        auditor = os.path.join(self.build, "bin", "mpgaudit")
        done = subprocess.run(
            [auditor, "--target=mpg", "--format=json", path],
            text=True,
            stdout=subprocess.PIPE,
        )
        if not done.stdout.startswith("{"):
            raise RowFailed(f"mpgaudit ended with {done.returncode} and no report")
        for finding in json.loads(done.stdout)["files"][0]["findings"]:
            number = finding["id"]
            bad = number in ("MPG102", "MPG103", "MPG150", "MPG151", "MPG152")
            if bad and finding["severity"] != "note":
                raise RowFailed(f"mpgaudit: {number}: {finding['title']}")

    @staticmethod
    def compare_sizes(row: Row, path: str, plain: str) -> None:
        apparent = os.path.getsize(path) - os.path.getsize(plain)
        disk = 512 * (os.stat(path).st_blocks - os.stat(plain).st_blocks)
        most = GROWTH_APPARENT + (2 * HUGE if row.is_text() else 0)
        if apparent > most and row.option not in LARGE_HOLES:
            raise RowFailed(f"the file grew by {apparent} bytes")
        if disk > GROWTH_DISK and not row.option.endswith("separate-code"):
            raise RowFailed(f"the file grew by {disk} bytes on disk")

    def check_output(self, row: Row, kind: str, files: list[str], path: str) -> str:
        """Links one file and checks it."""
        self.link(row, kind, files, path, self.linker(row))
        check_layout(path, row.option in MODELS)
        self.audit(path)
        if row.is_text():
            check_text(path)
        if row.linker == "ld.mpg":
            check_note(path)
            plain = self.link(row, kind, files, path + ".plain", ["-fuse-ld=lld"])
            self.compare_sizes(row, path, plain)
        return path

    def check(self, row: Row, folder: str) -> None:
        suffix = SUFFIXES[row.language]
        name = "large.c" if row.option in MODELS else "program" + suffix
        kind, files = row.kind, []
        if row.kind == "shared":
            # The program that uses the library; it has the layout as well.
            kind = "pie"
            source, object = "library" + suffix, os.path.join(folder, "library.o")
            self.compile(row, "shared", source, object)
            library = os.path.join(folder, "library.so")
            files = [self.check_output(row, "shared", [object], library)]
        object = self.compile(row, kind, name, os.path.join(folder, "program.o"))
        path = os.path.join(folder, "program")
        self.execute(row, self.check_output(row, kind, [object] + files, path))

    def try_row(self, row: Row) -> tuple[Row, str]:
        """Why the row failed; empty if it did not. Then its files are removed."""
        folder = os.path.join(self.out, row.name().replace(" ", "_"))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        try:
            self.check(row, folder)
        except (RowFailed, CommandError, OSError) as reason:
            return row, str(reason) or "failed"
        shutil.rmtree(folder)
        return row, ""


def all_rows() -> list[Row]:
    # Every combination: a row that cannot be linked would have to be left out
    # here, with its reason.
    rows = [
        Row(*combination)
        for combination in itertools.product(MACHINES, KINDS, LINKERS, LANGUAGES)
    ]
    for option in OPTIONS:
        for machine in MACHINES:
            rows.append(Row(machine, "pie", "ld.mpg", "c", option))
    for combination in itertools.product(MACHINES, KINDS, LANGUAGES):
        machine, kind, language = combination
        rows.append(Row(machine, kind, "ld.mpg", language, "text"))
    for machine in MACHINES:
        for option in {**TEXT_OPTIONS, **TEXT_MACHINE_OPTIONS[machine]}:
            if option != "text":
                rows.append(Row(machine, "pie", "ld.mpg", "c++", option))
    for option in MODELS:
        for kind in ("pie", "no-pie"):
            rows.append(Row("x86-64", kind, "ld.mpg", "c", option))
    return rows


def main() -> int:
    args = parse(__doc__, build=str, out=str, machine={"choices": MACHINES},
                 linker={"choices": LINKERS}, language={"choices": LANGUAGES}, options=False,
                 text={"action": "store_true", "help": "only --mpg-text"}, kinds=False, jobs=2,
                 list=False)
    source = str(pathlib.Path(__file__).resolve().parents[2])
    rows = [
        row
        for row in all_rows()
        if args.machine in (None, row.machine)
        and args.linker in (None, row.linker)
        and args.language in (None, row.language)
        and not (args.options and (not row.option or row.is_text()))
        and not (args.text and not row.is_text())
        and not (args.kinds and row.option)
    ]
    if args.list:
        print("\n".join(row.name() for row in rows))
        return 0
    matrix = Matrix(args.build, source, args.out)
    try:
        matrix.prepare(rows)
    except CommandError as error:
        print(error)
        return 1
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row, reason in pool.map(matrix.try_row, rows):
            failed += bool(reason)
            print(f"{'FAIL' if reason else 'ok  '}  {row.name()}", flush=True)
            if reason:
                print(reason, flush=True)
    print(f"{len(rows)} rows, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
