"""What .bss costs at start-up: startup.py SMALL LARGE MAX_MS [PAIRS]

Both programs are regions.c, LARGE with more .bss; the environment decides what
the library does. Runs them in turn and compares the times from before the start
to the first line of main, pair by pair, because machines are noisy. Exit status
1 if not even a quarter of the differences is below MAX_MS: other load on the
machine only adds to them.
"""

import statistics
import subprocess
import sys
import time


def milliseconds(program: str) -> float:
    start = time.monotonic_ns()
    done = subprocess.run([program, "time"], stdout=subprocess.PIPE, check=True)
    return (int(done.stdout) - start) / 1e6


def main() -> int:
    small, large, most = sys.argv[1], sys.argv[2], float(sys.argv[3])
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 30
    times = [(milliseconds(small), milliseconds(large)) for _ in range(pairs + 1)]
    times = times[1:]  # the first one reads the files
    differences = sorted(b - a for a, b in times)
    median = statistics.median(differences)
    print(
        f"small {statistics.median(a for a, _ in times):.1f} ms,"
        f" large {statistics.median(b for _, b in times):.1f} ms,"
        f" difference {median:.2f} ms"
        f" (quartiles {differences[pairs // 4]:.2f}"
        f" and {differences[pairs * 3 // 4]:.2f}, {pairs} pairs)"
    )
    return 1 if differences[pairs // 4] > most else 0


if __name__ == "__main__":
    sys.exit(main())
