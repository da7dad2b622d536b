# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Ends a comparison of two nodes in its fourth round, as a batch system does, and
# prints what it still reports.

import signal
import subprocess
import sys

run = subprocess.Popen(
    ["mpgrun", "--compare=none,thp", "--repeat=20", "srun", "-N2", "-n2", "mpgrun", "./large"],
    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
lines = []
for line in run.stderr:
    lines.append(line.removeprefix("mpgrun: "))
    if "round 4 of 20" in line:
        run.send_signal(signal.SIGTERM)
        break
output = run.communicate()[0]
steps = subprocess.run(["squeue", "-h", "-t", "R"], capture_output=True, text=True, check=False)
print(f"status {128 - run.returncode if run.returncode < 0 else run.returncode}")
sys.stdout.writelines([*lines, output])
print("running:", len(steps.stdout.splitlines()))
