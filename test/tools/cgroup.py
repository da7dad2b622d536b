# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command in a new control group of memory or pids (needs root).

    cgroup.py memory BYTES COMMAND...       at most that much memory, no swap
    cgroup.py pids COUNT COMMAND...
    cgroup.py memory|pids --probe

v1 or v2, whichever has the controller. The exit status is the command's, or 128 and its signal; 125
without the controller. --probe tests only for that.
"""

import subprocess
import sys

from mpgtest.cgroups import group


def main() -> int:
    controller, limit, *command = sys.argv[1:]
    try:
        with group(controller, 1 << 30 if limit == "--probe" else int(limit)) as limited:
            if limit == "--probe":
                return 0
            status = subprocess.run(command, preexec_fn=limited.enter, check=False).returncode
    except OSError as error:
        print(f"cgroup.py: {error}", file=sys.stderr)
        return 125
    return status if status >= 0 else 128 - status


sys.exit(main())
