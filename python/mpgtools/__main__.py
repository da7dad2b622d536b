# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: python -m mpgtools [MPGRUN OPTION]... SCRIPT|-m MODULE|-c CODE [ARGUMENT]...

Runs a script with this Python under mpgrun, with data, heap and stacks on large pages. Words that
begin with -- come before the script and are mpgrun's: --report, --mode=thp, --compare and so on
(mpgrun --help). Set MPGRUN to the path of mpgrun if it is not in PATH.
"""

import os
import shutil
import subprocess
import sys
from typing import List, NoReturn, Tuple

OWN_ERROR = 125  # as mpgrun


def fail(text: str) -> NoReturn:
    print(f"mpgtools: error: {text}", file=sys.stderr)
    sys.exit(OWN_ERROR)


def split(words: List[str]) -> Tuple[List[str], List[str]]:
    """mpgrun's words and Python's."""
    for index, word in enumerate(words):
        if word == "--":
            return words[:index], words[index + 1:]
        if word != "-q" and not word.startswith("--"):
            return words[:index], words[index:]
    return words, []


def main() -> None:
    options, command = split(sys.argv[1:])
    if "--help" in options:
        print(__doc__.strip())
        return
    if not command:
        fail("no script is named; python -m mpgtools --help")
    mpgrun = shutil.which(os.environ.get("MPGRUN") or "mpgrun")
    if not mpgrun:
        fail(f"{os.environ.get('MPGRUN') or 'mpgrun'} is not there; install "
             "mpgtools, or name the program in the variable MPGRUN")
    if not sys.executable:
        fail("this Python does not know its own program file")
    # Flags of this Python (-O, -W, -X) apply to the script, too.
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    try:
        os.execv(mpgrun, [mpgrun, *options, "--", sys.executable, *flags, *command])
    except OSError as error:
        fail(f"{mpgrun}: {error.strerror}")


main()
