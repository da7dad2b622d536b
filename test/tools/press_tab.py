#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""press_tab.py SHELL FILE LINE...: what Tab makes of each LINE.

Starts a real, interactive SHELL (bash or zsh) in a new terminal, loads the completion in FILE,
types each LINE, presses Tab and prints the resulting line between < and >. The completed program
must be in PATH.
"""

import os
import pty
import re
import select
import shlex
import sys
import time

START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "bind 'set bell-style none'; source {file}"),
    "zsh": (["zsh", "-f", "-i"],
            "bindkey -e; fpath=({folder} $fpath); autoload -U compinit; "
            "compinit -u -D"),
}
SECONDS = 30


class Shell:
    def __init__(self, name: str, file: str):
        command, setup = START[name]
        child, self.terminal = pty.fork()
        if child == 0:
            os.environ.update(TERM="dumb", PS1="", COLUMNS="200")
            os.execvp(command[0], command)
        self.seen = ""
        file = os.path.abspath(file)
        # The echo of what is typed must not look like the answer.
        self.send(setup.format(file=shlex.quote(file),
                               folder=shlex.quote(os.path.dirname(file)))
                  + "; echo rea''dy\n")
        self.wait_for(r"ready\r?\n")

    def send(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def read(self, seconds: float) -> bool:
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        self.seen += os.read(self.terminal, 65536).decode(errors="replace")
        return True

    def wait_for(self, pattern: str) -> "re.Match[str]":
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            found = re.search(pattern, self.seen)
            if found:
                self.seen = ""
                return found
            self.read(0.1)
        sys.exit(f"press_tab.py: no answer in {SECONDS} s; seen: {self.seen!r}")

    def complete(self, line: str) -> str:
        self.send(line + "\t")
        self.read(SECONDS)
        while self.read(0.7):  # until the shell has finished the line
            pass
        # To the start and the end of the line: it becomes a word that is
        # printed, with marks that are not in what is typed.
        self.send("\x01printf '\\074%s\\076\\n' '\x05'\n")
        return self.wait_for(r"<([^<>\r\n]*)>\r?\n").group(1)


def main() -> int:
    if len(sys.argv) < 4 or sys.argv[1] not in START:
        sys.exit(__doc__)
    shell = Shell(sys.argv[1], sys.argv[2])
    for line in sys.argv[3:]:
        print(f"<{shell.complete(line)}>", flush=True)
    return 0


sys.exit(main())
