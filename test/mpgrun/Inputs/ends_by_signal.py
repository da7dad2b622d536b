# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ends_by_signal.py N COMMAND...: succeeds if COMMAND is ended by signal N."""

import subprocess
import sys

status = subprocess.run(sys.argv[2:], check=False).returncode
print(f"ended with {status}")
sys.exit(status != -int(sys.argv[1]))
