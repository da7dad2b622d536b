#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""status.py N COMMAND...: runs COMMAND and succeeds if it ends with status N.

lit's `not` only tells zero from the rest, but the user's scripts tell status 1
(something was found) from 2 (the job could not be done). Both outputs of the
command pass through, so that a test can pipe them into FileCheck. A command
that dies by a signal never has the expected status.
"""

import subprocess
import sys


def main() -> int:
    if len(sys.argv) < 3 or not sys.argv[1].isdigit():
        print("usage: status.py N COMMAND...", file=sys.stderr)
        return 2
    expected = int(sys.argv[1])
    status = subprocess.run(sys.argv[2:], check=False).returncode
    if status == expected:
        return 0
    if status < 0:
        what = f"died by signal {-status}"
    else:
        what = f"ended with status {status}"
    print(f"status.py: {what}, not {expected}: {' '.join(sys.argv[2:])}",
          file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
