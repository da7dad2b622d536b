# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt_rounds.py MPGRUN: ends mpgrun --compare after some rounds with SIGTERM,
as a batch system does, and prints status, standard error and the report."""

import signal
import subprocess
import sys

child = subprocess.Popen(
    [sys.argv[1], "--compare=none,thp", "--repeat=40", "--json=rounds.json", "sleep", "0.2"],
    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
told = []
for line in child.stderr:
    told.append(line)
    if "round 4 of" in line:
        break
child.send_signal(signal.SIGTERM)
report, rest = child.communicate(timeout=600)
print("status", child.returncode)
print("".join(told) + rest + report)
