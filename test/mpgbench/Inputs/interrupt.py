"""interrupt.py COMMAND...: runs COMMAND, interrupts it and its children after a
second as Ctrl-C does, and ends with its status."""

import os
import signal
import subprocess
import sys
import time

process = subprocess.Popen(sys.argv[1:], start_new_session=True)
time.sleep(1)
os.killpg(process.pid, signal.SIGINT)
sys.exit(process.wait(timeout=600))
