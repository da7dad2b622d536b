# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hang_up.py COMMAND...: runs COMMAND as nohup does, hangs up when it has a
child, and ends with its status."""

import signal
import subprocess
import sys
import time

from processes import children

with subprocess.Popen(
        sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
    while not children(process.pid) and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGHUP)
sys.exit(process.returncode)
