# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Commands with an end: what they said, and an error that a user can type again."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Callable, Mapping, NamedTuple, Optional, Sequence, Union

Word = Union[str, Path]
SECONDS = 600
OUT_OF_TIME = -99  # no signal has this number
SAID = 400  # so much of what a failed command said is shown
# Settings of the user who runs the tests: each test sets those it needs.
OURS = re.compile(r"(XOS_MMM_L|MALLOC|MPG|OMP)_|LD_PRELOAD$")


class CommandError(Exception):
    """A command failed: the command, how it ended, and the start of what it said."""


class Result(NamedTuple):
    status: int  # negative: the signal, or OUT_OF_TIME
    out: bytes
    err: bytes

    def said(self) -> str:
        late = "out of time\n" if self.status == OUT_OF_TIME else ""
        return late + (self.out + self.err).decode(errors="replace")


def without_settings(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    return {k: v for k, v in environment.items() if not OURS.match(k)}


def run(
    command: Sequence[Word],
    *,
    folder: Optional[Word] = None,
    environment: Optional[Mapping[str, str]] = None,
    stdin: bytes = b"",
    seconds: float = SECONDS,
    enter: Optional[Callable[[], None]] = None,
) -> Result:
    """Runs it to its end. `environment` is all of it, or none for ours; `enter` is
    called in the child. When time is up, or we are interrupted, the command is
    killed with all that it started and did not detach."""
    child = subprocess.Popen(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=enter,
        start_new_session=True,
    )
    try:
        out, err = child.communicate(stdin or None, timeout=seconds)
        status = child.returncode
    except BaseException as reason:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        if not isinstance(reason, subprocess.TimeoutExpired):
            raise
        status = OUT_OF_TIME
    return Result(status, out, err)


def shown(
    command: Sequence[Word],
    changed: Optional[Mapping[str, str]] = None,
    folder: Optional[Word] = None,
) -> str:
    """As a user types it."""
    words = [f"{name}={shlex.quote(value)}" for name, value in (changed or {}).items()]
    line = " ".join(words + [shlex.join(map(str, command))])
    return f"cd {folder} && {line}" if folder else line


def output(
    command: Sequence[Word],
    changed: Optional[Mapping[str, str]] = None,
    folder: Optional[Word] = None,
    seconds: float = SECONDS,
) -> str:
    """Standard output of a command that ends with 0; CommandError if it does not. Its environment
    is ours without OURS, and with `changed`."""
    environment = {**without_settings(), **(changed or {})}
    done = run(command, folder=folder, environment=environment, seconds=seconds)
    if done.status == 0:
        return done.out.decode(errors="replace")
    how = (f"took more than {seconds:.0f} s" if done.status == OUT_OF_TIME
           else f"ended with {done.status}")
    said = done.said()[:SAID]
    raise CommandError(f"`{shown(command, changed, folder)}` {how}: {said}")


def finish(faults: Sequence[object], text: str, is_tested: object = True) -> int:
    """Prints each fault, then `text` with their number for {}; the exit status. Where nothing was
    tested, that is one, too."""
    print(*faults, text.format(len(faults)), sep="\n")
    return 1 if faults or not is_tested else 0
