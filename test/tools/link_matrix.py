#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links programs in many ways and checks that the 2 MiB layout holds in each.

One row is a machine, a kind of output, a linker and a language, or one of the
option sets below. For each row the tool

  * links with ld.mpg, or with lld or GNU ld and the script in linker-scripts/,
  * reads the program headers and sections with its own few lines: .data, .bss
    (.ldata, .lbss) begin on a border, their segment ends on one, is aligned to
    2 MiB, and no other segment has a byte in the same 2 MiB,
  * runs the result, with address randomisation and without; it checks its own
    values and grows the heap of brk,
  * asks mpgaudit: no MPG103, MPG150, MPG151, MPG152, and MPG102 as a note only,
  * for ld.mpg: reads the note, and compares the size, as seen and on disk, with a plain lld link.

  link_matrix.py --build BUILD --out FOLDER [--machine M] [--linker L]
                 [--language L] [--options] [--list]

Prints one line a row and exits with 1 if one failed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import struct
import subprocess
import sys

HUGE = 2 << 20
GROWTH_APPARENT = int(2.2 * (1 << 20))
GROWTH_DISK = 64 << 10

KINDS = {
    "pie": ["-fPIE", "-pie"],
    "no-pie": ["-fno-pie", "-no-pie"],
    "static": ["-static"],
    "static-pie": ["-fPIE", "-static-pie"],
    "shared": ["-fPIC", "-shared"],
}

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


class RowFailed(Exception):
    pass


def run(command: list[str], **kwargs) -> str:
    done = subprocess.run(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs
    )
    if done.returncode != 0:
        raise RowFailed(f"{' '.join(command)}\n{done.stdout}status {done.returncode}")
    return done.stdout


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
            sections = [
                struct.unpack_from("<IIQQQQ", file.read(64)) for _ in range(shnum)
            ]
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
        if elf.relro and elf.relro[0] // HUGE <= last and (elf.relro[1] - 1) // HUGE >= first:
            raise RowFailed(f"{name} shares 2 MiB with RELRO")
    wanted = {".data", ".bss"} | ({".ldata", ".lbss"} if expect_large else set())
    if not wanted <= found:
        raise RowFailed(f"no {wanted - found}")


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
        self.build = build
        self.inputs = os.path.join(source, "test", "ld.mpg", "Inputs")
        self.scripts = os.path.join(source, "linker-scripts")
        self.out = out
        os.makedirs(out, exist_ok=True)
        self.setarch = ["setarch", "-R"]
        if subprocess.run(self.setarch + ["true"], stderr=subprocess.DEVNULL).returncode:
            self.setarch = []  # containers may forbid it

    def compiler(self, row: Row) -> list[str]:
        cross = row.machine == "aarch64"
        if row.linker == "bfd":
            name = "g++" if row.language == "c++" else "gcc"
            return [("aarch64-linux-gnu-" if cross else "") + name]
        name = {"c": "clang-22", "c++": "clang++-22", "fortran": "flang-22"}[row.language]
        return [name] + (["--target=aarch64-linux-gnu"] if cross else [])

    def linker(self, linker: str) -> list[str]:
        if linker == "ld.mpg":
            return ["-fuse-ld=" + os.path.join(self.build, "bin", "ld.mpg")]
        page = "-Wl,-z,max-page-size=2097152"
        if linker == "lld":
            return ["-fuse-ld=lld", page, f"-Wl,-T,{self.scripts}/mpg-2mb.lld.ld"]
        return [page, "-Wl,-z,noseparate-code", f"-Wl,-T,{self.scripts}/mpg-2mb.bfd.ld"]

    def source(self, row: Row) -> str:
        name = {"c": "program.c", "c++": "program.cpp", "fortran": "program.f90"}
        file = "large.c" if row.option in MODELS else name[row.language]
        return os.path.join(self.inputs, file)

    def flags(self, row: Row) -> list[str]:
        kind = KINDS["pie" if row.kind == "shared" else row.kind]
        if row.language == "fortran":
            # flang always makes position independent code.
            kind = [flag for flag in kind if not flag.startswith("-f")]
        options = OPTIONS.get(row.option) or MODELS.get(row.option) or []
        if row.linker == "lld":
            # What the script for lld does not cover, as it says.
            options = options + ["-DWITHOUT_NOINIT"]
        return kind + options + ([] if row.language == "fortran" else ["-pthread"])

    def link(self, row: Row, path: str, linker: list[str]) -> list[str]:
        """Links the row; returns the files that are to have the layout."""
        compiler = self.compiler(row) + ["-O1"]
        if row.kind != "shared":
            run(compiler + self.flags(row) + [self.source(row), "-o", path] + linker)
            return [path]
        library = path + ".so"
        run(
            compiler + KINDS["shared"]
            + [os.path.join(self.inputs, "library.c"), "-o", library] + linker
        )
        run(
            compiler + self.flags(row)
            + ["-DWITH_LIBRARY", self.source(row), library, "-o", path] + linker
        )
        return [path, library]

    def execute(self, row: Row, path: str) -> None:
        if row.machine == "aarch64":
            runners = [["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]]
        else:
            runners = [[]] + ([self.setarch] if self.setarch else [])
        for runner in runners:
            if "values are right" not in run(runner + [os.path.abspath(path)]):
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

    def compare_sizes(self, row: Row, path: str) -> None:
        plain = path + ".plain"
        self.link(row, plain, ["-fuse-ld=lld"])
        apparent = os.path.getsize(path) - os.path.getsize(plain)
        disk = 512 * (os.stat(path).st_blocks - os.stat(plain).st_blocks)
        if apparent > GROWTH_APPARENT and row.option not in LARGE_HOLES:
            raise RowFailed(f"the file grew by {apparent} bytes")
        if disk > GROWTH_DISK and row.option != "separate-code":
            raise RowFailed(f"the file grew by {disk} bytes on disk")

    def check(self, row: Row) -> None:
        path = os.path.join(self.out, row.name().replace(" ", "_"))
        for made in self.link(row, path, self.linker(row.linker)):
            check_layout(made, row.option in MODELS)
            if row.linker == "ld.mpg":
                check_note(made)
            self.audit(made)
        self.execute(row, path)
        if row.linker == "ld.mpg":
            self.compare_sizes(row, path)
        for name in os.listdir(self.out):
            os.unlink(os.path.join(self.out, name))


def all_rows() -> list[Row]:
    rows = [
        Row(machine, kind, linker, language)
        for machine in ("x86-64", "aarch64")
        for kind in KINDS
        for linker in ("ld.mpg", "lld", "bfd")
        for language in ("c", "c++", "fortran")
        if not (kind == "shared" and language != "c")
        and not (language == "fortran"
                 and (machine == "aarch64" or linker == "bfd" or "static" in kind))
    ]
    for option in OPTIONS:
        for machine in ("x86-64", "aarch64"):
            if not (machine == "aarch64" and option in ("relr",)):
                rows.append(Row(machine, "pie", "ld.mpg", "c", option))
    for option in MODELS:
        for kind in ("pie", "no-pie"):
            rows.append(Row("x86-64", kind, "ld.mpg", "c", option))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--machine")
    parser.add_argument("--linker")
    parser.add_argument("--language")
    parser.add_argument("--options", action="store_true", help="only the option sets")
    parser.add_argument("--kinds", action="store_true", help="only the kinds")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    rows = [
        row for row in all_rows()
        if args.machine in (None, row.machine)
        and args.linker in (None, row.linker)
        and args.language in (None, row.language)
        and not (args.options and not row.option)
        and not (args.kinds and row.option)
    ]
    if args.list:
        print("\n".join(row.name() for row in rows))
        return 0
    matrix = Matrix(args.build, source, args.out)
    failed = 0
    for row in rows:
        try:
            matrix.check(row)
            print(f"ok    {row.name()}", flush=True)
        except RowFailed as reason:
            failed += 1
            print(f"FAIL  {row.name()}\n{reason}", flush=True)
    print(f"{len(rows)} rows, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
