# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the programs that measure: where the build is, options, the machine, intervals."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Sequence

REPO = Path(__file__).resolve().parents[2]
from mpgtest.measure import get_median_interval, get_processor_seconds  # noqa: F401
from mpgtest.options import parse  # noqa: F401
from mpgtest.results import machine  # noqa: F401

BUILD = REPO / "build"
MPGRUN = str(BUILD / "bin/mpgrun")
LIBRARY = str(BUILD / "lib/libmpgrt.so")


def refuse(reason: str) -> NoReturn:
    print(f"{Path(sys.argv[0]).name}: error: {reason}", file=sys.stderr)
    sys.exit(2)


def with_interval(values: Sequence[float], form: str = ".3f", unit: str = "x") -> str:
    """The median, and the interval in which it lies with 95 %."""
    low, high = get_median_interval(values)
    return f"{statistics.median(values):{form}}{unit} [{low:{form}}, {high:{form}}]"


def build_pair(build: Path, script: str, folder: str, shared: List[str],
               option: str) -> List[Path]:
    """The C program beside a script, compiled by mpg-clang without the option and with it."""
    programs = [Path(folder) / name for name in ("plain", "with")]
    for program, more in zip(programs, ([], [option])):
        subprocess.run([build / "bin/mpg-clang", "-O2", *shared, *more,
                        Path(script).with_suffix(".c"), "-o", program], check=True)
    return programs


def model(build: Path, program: Path, *arguments: str, **more: Any) -> Dict[str, Any]:
    """mpgsim's counts of the program with pages of 2 MiB; `arguments` begin with its options."""
    output = program.with_suffix(".json")
    options = [word for word in arguments if word.startswith("--")]
    rest = [word for word in arguments if not word.startswith("--")]
    subprocess.run([build / "bin/mpgsim", "--pages=2M", "--json", f"--output={output}", *options,
                    program, *rest], check=True, stdout=subprocess.DEVNULL, **more)
    return json.loads(output.read_text(encoding="utf-8"))
