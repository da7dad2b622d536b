"""interrupt.py COMMAND...: runs COMMAND, interrupts it and its children as Ctrl-C does
when it has one, and ends with its status."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
from processes import children, wait_for  # noqa: E402

process = subprocess.Popen(sys.argv[1:], start_new_session=True)
wait_for(lambda: children(process.pid) != [])
os.killpg(process.pid, signal.SIGINT)
sys.exit(process.wait(timeout=600))
