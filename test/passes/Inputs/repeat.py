# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""repeat.py TIMES COMMAND...: the first failure ends it, with its status."""

import subprocess
import sys

for _ in range(int(sys.argv[1])):
    status = subprocess.run(sys.argv[2:]).returncode
    if status:
        sys.exit(f"{sys.argv[2]} ended with status {status}")
