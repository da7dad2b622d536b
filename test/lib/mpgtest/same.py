# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is a program the same, run another way: status, output, errors, files."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from typing import Callable, Iterable, Mapping, NamedTuple, Optional, Sequence

from mpgtest.run import OUT_OF_TIME, SECONDS, Word, run, shown

# A matter of chance: where the kernel has put something above the stack.
STACK_BOTTOM = r"^mpg: no room above the process stack .*\n"
SHOWN = 2000


class Differs(Exception):
    """The program is not the same."""


class Outcome(NamedTuple):
    status: int
    out: bytes
    err: bytes
    files: dict[str, bytes]


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def files_in(folder: str) -> dict[str, bytes]:
    """Length and sum of each file, by its name."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            content = read(os.path.join(path, name))
            total = hashlib.sha256(content).hexdigest()
            shown = os.path.relpath(os.path.join(path, name), folder)
            found[shown] = f"{len(content)} bytes, {total}".encode()
    return dict(sorted(found.items()))


def get_outcome(
    command: Sequence[Word],
    drop: Iterable[str] = (),
    folder: Optional[str] = None,
    environment: Optional[Mapping[str, str]] = None,
    seconds: float = SECONDS,
) -> Outcome:
    """One run, with the files that it leaves in `folder`. Removes matches of `drop` from both
    outputs."""
    done = run(command, folder=folder, environment=environment, seconds=seconds)
    if done.status == OUT_OF_TIME:
        raise Differs(f"`{shown(command)}` took more than {seconds:.0f} s")
    out, err = done.out, done.err
    for pattern in [STACK_BOTTOM, *drop]:
        compiled = re.compile(pattern.encode(), re.MULTILINE)
        out, err = compiled.sub(b"", out), compiled.sub(b"", err)
    return Outcome(done.status, out, err, files_in(folder) if folder else {})


def check_plain(plain: Outcome, ends_by: int) -> None:
    """The run that the others are compared with prints something."""
    if plain.status != ends_by:
        raise Differs(f"plain run: status {plain.status}, {plain.err!r:.{SHOWN}}")


def compare(plain: Outcome, other: Outcome) -> None:
    for what in Outcome._fields:
        before, now = getattr(plain, what), getattr(other, what)
        if what == "files":  # those that are not the same say enough
            changed = {name for name in before.keys() | now.keys()
                       if before.get(name) != now.get(name)}
            before, now = ({name: files[name] for name in sorted(changed) if name in files}
                           for files in (before, now))
        if before != now:
            verbs = ("were", "are") if what == "files" else ("was", "is")
            raise Differs(f"{what} {verbs[0]} {before!r:.{SHOWN}}, {verbs[1]} {now!r:.{SHOWN}}")


def report(check: Callable[[], None]) -> int:
    """Prints that nothing differs, or the difference; returns the exit status."""
    try:
        check()
    except Differs as reason:
        print(f"{os.path.basename(sys.argv[0])}: {reason}")
        return 1
    print("unchanged")
    return 0
