#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's calls and remarks for first touch, one line per function.

    first_touch_lines.py [--mode MODE] COMPILER ARGUMENTS... SOURCE

Compiles SOURCE with the given command (which loads the plugin) and prints, in
the order of the source,

    FUNCTION: calls N, REMARK@LINE, REMARK@LINE

N is the number of calls of mpg_first_touch in the optimised function; remarks are those of the pass
"mpg" about placement, sorted by line, then by name, each once. Code that the compiler outlined from
a function counts as that function. Functions with neither call nor remark are omitted; the last
line is always "end".

MODE is a value of the option first-touch. The compiler's own messages go to
standard error; its failure is this program's, with status 1.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Dict, List, Set, Tuple

from mpgtest.options import parse

CALL = re.compile(r"^\s+(?:tail |notail )*(?:call|invoke) .*@mpg_first_touch[.\w]*\(")
DEFINE = re.compile(r'^define .*?@("(?:[^"]*)"|[\w.$]+)\(')
FIELD = {
    "name": re.compile(r"^Name:\s+(\S+)", re.MULTILINE),
    "line": re.compile(r"^DebugLoc:.*?Line:\s*(\d+)", re.MULTILINE | re.DOTALL),
    "function": re.compile(r"^Function:\s+(\S+)", re.MULTILINE),
}
# Remarks about hints share the pass name.
HINTS = {
    "TagInserted", "LoopKept", "TagSkipped", "HintUnused", "HintConflict",
    "NotTagged", "VerifierRejected",
}


def source_name(symbol: str) -> str:
    """The name in the source of what a symbol's code was written in."""
    symbol = symbol.strip("'\"")
    symbol = re.sub(r"(\.omp_outlined|\.\.omp_par|_omp_fn|\.omp\.reduction|"
                    r"\.cold|\.extracted|\.specialized|\.constprop|\.argprom|"
                    r"\.split).*$", "", symbol)
    if symbol.startswith("_Q"):  # flang's: a main program, a module's procedure
        return "main" if symbol == "_QQmain" else re.split(r"[PF]", symbol)[-1]
    if symbol.startswith("_Z"):
        plain = subprocess.run(["c++filt", symbol], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.strip()
        plain = re.sub(r"\[abi:\w+\]", "", plain)
        plain = re.sub(r"<[^<>]*>", "", plain)
        return re.split(r"::|\s", plain.split("(")[0])[-1]
    return symbol.rstrip("_")  # Fortran's


def count_calls(ir: str) -> Dict[str, int]:
    calls: Dict[str, int] = defaultdict(int)
    function = ""
    for line in ir.split("\n"):
        define = DEFINE.match(line)
        if define:
            function = define.group(1).strip('"')
        # Skip the pass's helper function that tests for libmpg.
        elif CALL.match(line) and not function.startswith("mpg_first_touch"):
            calls[source_name(function)] += 1
    return calls


def read_remarks(record: str) -> Dict[str, Set[Tuple[int, str]]]:
    remarks: Dict[str, Set[Tuple[int, str]]] = defaultdict(set)
    for entry in re.split(r"^--- ", record, flags=re.MULTILINE)[1:]:
        found = {key: field.search(entry) for key, field in FIELD.items()}
        name = found["name"].group(1)
        if name in HINTS or not re.search(r"^Pass:\s+mpg\s*$", entry, re.MULTILINE):
            continue
        line = int(found["line"].group(1)) if found["line"] else 0
        remarks[source_name(found["function"].group(1))].add((line, name))
    return remarks


def compile_source(command: List[str], mode: str) -> Tuple[str, str]:
    """The optimised IR and the optimisation record."""
    environment = dict(os.environ)
    if mode:
        environment["MPG_PASS_OPTIONS"] = f"first-touch={mode}"
    with tempfile.TemporaryDirectory() as folder:
        out, record = Path(folder, "out.ll"), Path(folder, "out.yaml")
        status = subprocess.run(
            command + ["-S", "-emit-llvm", "-o", str(out),
                       "-fsave-optimization-record",
                       f"-foptimization-record-file={record}"],
            env=environment, check=False).returncode
        if status:
            sys.exit(1)
        return (out.read_text("utf-8"), record.read_text("utf-8") if record.exists() else "")


def main() -> int:
    args = parse(__doc__, "command...", mode="")
    ir, record = compile_source(args.command, args.mode)
    calls, remarks = count_calls(ir), read_remarks(record)
    source = Path(args.command[-1]).read_text("utf-8")
    # Checks in the source stand behind comment marks; code decides the order.
    code = re.sub(r"^\s*(//|!)(?!\$).*$", "", source, flags=re.MULTILINE)

    def place(name: str) -> Tuple[int, str]:
        found = re.search(rf"\b{re.escape(name)}\b", code)
        return found.start() if found else -1, name

    names = sorted(set(calls) | set(remarks), key=place)
    for name in names:
        parts = [f"{name}: calls {calls.get(name, 0)}"]
        parts += [f"{remark}@{line}" for line, remark in sorted(remarks.get(name, ()))]
        print(", ".join(parts))
    print("end")
    return 0


sys.exit(main())
