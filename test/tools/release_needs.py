#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""release_needs.py --llvm LIBDIR PROGRAM...: checks that tools/release builds all parts of LLVM
and libdw that these programs, linked with LLVM's static libraries, use. tools/release builds from
lists; this test names a program's new dependency before the linker fails when an archive is made.
"""

import pathlib
import re
import subprocess
import sys
from typing import Dict, Iterator, List, Set, Tuple

RELEASE = pathlib.Path(__file__).resolve().parents[2] / "tools" / "release"
sys.path.insert(0, str(RELEASE))
sys.path.insert(0, str(RELEASE.parent / "package"))
from cross_build import LLVM_FILES  # noqa: E402
from elf_needs import C_LIBRARY, read_needs  # noqa: E402

from mpgtest.options import parse

# Of libdw itself, whose folder is compiled whole.
LIBDW = re.compile(r"(dwarf|libdw|libcpu)_.*|cfi|cie|fde|frame-cache|encoded-value")
BUILT = ("libelf.so.1", "libdw.so.1")
COMPILERS = re.compile(r"lib(stdc\+\+|gcc_s|c\+\+|c\+\+abi)[.]so[.].*")


def symbols(path: str, *options: str) -> Iterator[Tuple[str, str, str]]:
    """(member of an archive, type, name)"""
    done = subprocess.run(["nm", "-A", "--no-demangle", *options, path], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in done.stdout.splitlines():
        where, rest = re.split(r":(?=[0-9a-f]{16} | {16} )", line, maxsplit=1)
        words = rest.split()
        yield where.split(":")[-1], words[-2], words[-1].split("@")[0]


def linked_members(programs: List[str], archive: str) -> Set[str]:
    """Of whose members the programs have a symbol that no other member defines."""
    definers: Dict[str, Set[str]] = {}
    for member, kind, name in symbols(archive, "--defined-only", "--extern-only"):
        if kind in "TDBR":
            definers.setdefault(name, set()).add(member)
    unique = {name: next(iter(members)) for name, members in definers.items() if len(members) == 1}
    return {unique[name] for program in programs
            for _, kind, name in symbols(program, "--defined-only")
            if kind in "TDBR" and name in unique}


def needed_of_libdw(programs: List[str], archive: str) -> Set[str]:
    """Members of libdw.a that the programs' calls lead to."""
    defined, calls = {}, {}  # type: Dict[str, str], Dict[str, Set[str]]
    for member, kind, name in symbols(archive):
        if kind == "U":
            calls.setdefault(member, set()).add(name)
        elif kind in "TDBRWV":
            defined[name] = member
    wanted = [name for program in programs
              for _, _, name in symbols(program, "-D", "--undefined-only")]
    found: Set[str] = set()
    while wanted:
        member = defined.get(wanted.pop())
        if member and member not in found:
            found.add(member)
            wanted += calls.get(member, ())
    return found


def missing(programs: List[str], llvm: pathlib.Path) -> Iterator[str]:
    for archive in sorted(llvm.glob("libLLVM*.a")):
        library = archive.stem[len("libLLVM"):]
        if library not in (*LLVM_FILES, "BinaryFormat", "Object", "TargetParser"):
            continue  # what they would pull in first
        listed = LLVM_FILES.get(library, "").split()
        for member in sorted(linked_members(programs, str(archive))):
            if re.sub(r"([.]cpp)?[.]o$", "", member) not in listed:
                yield f"LLVM's {library}/{member}; add it to LLVM_FILES, cross_build.py"
    text = (RELEASE / "elf" / "CMakeLists.txt").read_text(encoding="utf-8")
    libdw = subprocess.run(["gcc", "-print-file-name=libdw.a"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.strip()
    for member in sorted(needed_of_libdw(programs, libdw)):
        if not LIBDW.fullmatch(member[:-2]) and f"/{member[:-2]}.c" not in text:
            yield f"elfutils' {member[:-2]}.c; add it to elf/CMakeLists.txt"
    for program in programs:
        for library in read_needs(program).libraries:
            if library not in BUILT and not C_LIBRARY.fullmatch(library) and \
                    not COMPILERS.fullmatch(library):
                yield f"{library}; it has to be pinned in sources.py and built"


def main() -> int:
    options = parse(__doc__, "programs+", llvm=pathlib.Path)
    if not (options.llvm / "libLLVMSupport.a").exists():
        sys.exit(f"{options.llvm} has no libLLVMSupport.a")
    lacks = sorted(set(missing(options.programs, options.llvm)))
    for what in lacks:
        print(f"a release archive lacks {what}")
    return 1 if lacks else 0


sys.exit(main())
