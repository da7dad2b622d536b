#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the libraries that mpgaudit finds with the loader's own list.

    compare_loader.py MPGAUDIT [OPTION]... PROGRAM|FOLDER...

Each program is started with LD_TRACE_LOADED_OBJECTS=1: the loader then prints what it has mapped
and ends before the program's first instruction. The same libraries under the same paths in the same
order have to be in mpgaudit's report; the vDSO, which is not a file, is omitted. Missing libraries
have no place in the order: the loader stops there, and its own place beside them in this list is
arbitrary. Folders stand for the dynamic programs in them that run on this machine.
are taken.

  --least N         fail when fewer programs were compared
  --most N          compare so many, spread evenly over what was found
  --env NAME=VALUE  for both; may be repeated
  --option OPTION   for mpgaudit; may be repeated

Ends with 1 if any program differs, and shows both lists for it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import stat
import subprocess
import sys
import tempfile

from mpgtest.options import parse

LINE = re.compile(rb"^\t(?P<name>.+?)(?: => (?P<path>.+?))?" rb"(?: \(0x[0-9a-f]+\))?$")
VDSO = ("linux-vdso.so.1", "linux-gate.so.1")


def is_dynamic_program(path: str) -> bool:
    """Whether the kernel would start `path` with glibc's loader for x86-64 or
    AArch64, which only lists the libraries then. In a program with the rights
    of somebody else the loader ignores the variable, and the program runs."""
    try:
        if (os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID)
                or "security.capability" in os.listxattr(path)):
            return False
        with open(path, "rb") as file:
            start = file.read(4096)
    except OSError:
        return False
    return (start.startswith(b"\x7fELF\x02\x01")
            and re.search(rb"/ld-linux-(x86-64\.so\.2|aarch64\.so\.1)\0", start)
            is not None)


def find_programs(arguments: argparse.Namespace) -> list[str]:
    found = []
    for operand in arguments.operands:
        if not os.path.isdir(operand):
            found.append(operand)
            continue
        for name in sorted(os.listdir(operand)):
            path = os.path.join(operand, name)
            if (os.path.isfile(path) and not os.path.islink(path)
                    and "\n" not in path and is_dynamic_program(path)):
                found.append(path)
    if arguments.most and len(found) > arguments.most:
        step = len(found) / arguments.most
        found = [found[int(i * step)] for i in range(arguments.most)]
    return found


def query_loader(path: str, environment: dict[str, str], launcher: list[str]) -> list[str]:
    """Paths in the loader's order, then "missing: NAME" for those it does not find, once each,
    because it searches again for every library that needs one."""
    done = subprocess.run([*launcher, path], env=environment, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    libraries: list[str] = []
    for line in done.stdout.split(b"\n"):
        if line == b"\tstatically linked":
            continue
        match = LINE.match(line)
        if not match:
            continue
        name = os.fsdecode(match["name"])
        if name in VDSO or name.startswith(" ("):
            continue
        library = os.fsdecode(match["path"] or match["name"])
        if library == "not found":
            library = "missing: " + name
        else:
            library = os.path.abspath(library)
        if library not in libraries:
            libraries.append(library)
    if not libraries and done.stderr:
        libraries.append("error: " + done.stderr.decode(errors="replace"))
    return missing_last(libraries)


def missing_last(libraries: list[str]) -> list[str]:
    return sorted(libraries, key=lambda path: path.startswith("missing: "))


def query_mpgaudit(arguments: argparse.Namespace, paths: list[str]) -> dict[str, list[str]]:
    """One run for all, because libraries are read once for all of them."""
    with tempfile.NamedTemporaryFile("w", suffix=".list") as file:
        file.write("".join(path + "\n" for path in paths))
        file.flush()
        command = [arguments.mpgaudit, "--format=json", "--fail-on=never",
                   *("--env=" + setting for setting in arguments.env),
                   *arguments.option, "@" + file.name]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE)
    answer = {}
    for report in json.loads(done.stdout)["files"]:
        answer[report["path"]] = missing_last([
            os.path.abspath(library["path"]) if library["path"]
            else "missing: " + library["name"]
            for library in report.get("closure", [])])
    return answer


def main() -> int:
    arguments = parse(__doc__, "mpgaudit", "operands+", least=1, most={"type": int}, env=[],
                      option=[], launcher={"default": "", "type": shlex.split})
    environment = {"PATH": os.environ["PATH"], "LD_TRACE_LOADED_OBJECTS": "1"}
    environment.update(setting.split("=", 1) for setting in arguments.env)
    if arguments.launcher:
        del environment["LD_TRACE_LOADED_OBJECTS"]
    programs = find_programs(arguments)
    found = query_mpgaudit(arguments, programs)
    differing = 0
    libraries = 0
    for path in programs:
        theirs = query_loader(path, environment, arguments.launcher)
        ours = found.get(path, ["no report"])
        libraries += len(ours)
        if ours != theirs:
            differing += 1
            print(f"{path} differs\n  loader:   " + "\n            ".join(theirs)
                  + "\n  mpgaudit: " + "\n            ".join(ours))
    print(f"{len(programs)} programs with {libraries} libraries, {differing} differ")
    if len(programs) < arguments.least:
        print(f"fewer than {arguments.least}: nothing is shown by that")
        return 1
    return 1 if differing else 0


sys.exit(main())
