#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""as_nobody.py COMMAND...: runs COMMAND without the rights of root, which may
write everywhere; prints its output and its status."""

import os
import subprocess
import sys

command = sys.argv[1:]
if os.getuid() == 0:
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.stdout + f"status {done.returncode}")
