#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much of Redis is on transparent huge pages between its saves.

Two servers with the same data, one plain and one under mpgrun --mode=thp, take turns:
redis-benchmark sets and gets values of 1,000 bytes with ten clients, the server saves
in the background (BGSAVE forks), and the load goes on for 2 s after that. Prints how
much of the memory of the process is on large pages at the end of a save and 0.5, 1 and
2 s later, how long the fork took, and the 99th percentile of latencies while it saved
and after: medians, in brackets the least and the most. The ratios of latencies are
medians of the rounds, with the interval of 95 %. Needs
redis-server and redis-tools.
"""

import collections
import csv
import pathlib
import re
import statistics
import subprocess
import tempfile
import threading
import time
from typing import Dict, List

from measuring import BUILD, parse, with_interval

VALUE_BYTES = 1000
FILL = ("for i = 0, ARGV[1] - 1 do redis.call('set', string.format('key:%012d', i), "
        "string.rep('x', ARGV[2])) end return redis.call('dbsize')")


class Load(threading.Thread):
    """redis-benchmark again and again; p99 in ms of each kind of request."""

    def __init__(self, socket: str, keys: int) -> None:
        super().__init__()
        self.command = ["redis-benchmark", "-s", socket, "-t", "set,get", "-d",
                        str(VALUE_BYTES), "-r", str(keys), "-c", "10", "-n", "20000",
                        "--csv"]
        self.is_over = False
        self.p99: Dict[str, List[float]] = collections.defaultdict(list)

    def run(self) -> None:
        while not self.is_over:
            done = subprocess.run(self.command, stdout=subprocess.PIPE, check=True,
                                  stderr=subprocess.DEVNULL, text=True)
            for row in csv.DictReader(done.stdout.splitlines()):
                self.p99[row["test"]].append(float(row["p99_latency_ms"]))


class Server:
    def __init__(self, name: str, prefix: List[str], folder: str, keys: int) -> None:
        self.name, self.keys = name, keys
        self.socket = f"{folder}/{name}.sock"
        # pylint: disable=consider-using-with # ends in close()
        self.process = subprocess.Popen(
            [*prefix, "redis-server", "--port", "0", "--unixsocket", self.socket,
             "--save", "", "--dir", folder, "--dbfilename", f"{name}.rdb",
             "--loglevel", "warning"], stdout=subprocess.DEVNULL)
        while self.query("ping") != "PONG":
            time.sleep(0.1)
        self.query("eval", FILL, "0", str(keys), str(VALUE_BYTES))
        self.pid = self.number("server", "process_id")
        self.results: Dict[str, List[float]] = collections.defaultdict(list)

    def query(self, *words: str) -> str:
        return subprocess.run(["redis-cli", "-s", self.socket, *words], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False).stdout.strip()

    def number(self, section: str, name: str) -> int:
        found = re.search(rf"^{name}:(\d+)", self.query("info", section), re.MULTILINE)
        return int(found[1]) if found else 0

    def large_percent(self) -> float:
        maps = pathlib.Path(f"/proc/{self.pid}/smaps_rollup").read_text(encoding="ascii")
        sizes = {name: int(kib) for name, kib in
                 re.findall(r"^(Anonymous|AnonHugePages): *(\d+)", maps, re.MULTILINE)}
        return 100 * sizes["AnonHugePages"] / sizes["Anonymous"]

    def save(self) -> None:
        load = Load(self.socket, self.keys)
        load.start()
        time.sleep(0.3)
        self.query("bgsave")
        while self.number("persistence", "rdb_bgsave_in_progress"):
            time.sleep(0.02)
        end = time.monotonic()
        self.results["large at its end, %"].append(self.large_percent())
        for later in (0.5, 1, 2):
            time.sleep(max(0, end + later - time.monotonic()))
            self.results[f"large {later} s later, %"].append(self.large_percent())
        load.is_over = True
        load.join()
        fork = self.number("stats", "latest_fork_usec")
        self.results["fork, ms"].append(fork / 1000)
        for name, values in load.p99.items():
            self.results[f"p99 of {name}, ms"].append(statistics.median(values))

    def close(self) -> None:
        self.query("shutdown", "nosave")
        self.process.wait()


def ratio(values: List[float], plain: List[float]) -> str:
    each = [one / other for one, other in zip(values, plain)]
    return with_interval(each, ".2f")


def main() -> None:
    options = parse(__doc__, build=BUILD, saves=40, mib=220)
    keys = options.mib * 1048576 // (VALUE_BYTES + 150)
    with tempfile.TemporaryDirectory() as folder:
        mpgrun = [str(options.build / "bin/mpgrun"), "--mode=thp"]
        servers = [Server("plain", [], folder, keys), Server("thp", mpgrun, folder, keys)]
        for _ in range(options.saves):
            for server in servers:
                server.save()
        for server in servers:
            print(f"{server.name}, {options.saves} saves; the first fork "
                  f"{server.results['fork, ms'][0]:.1f} ms")
            for name, values in server.results.items():
                print(f"  {name}: {statistics.median(values):.2f} "
                      f"({min(values):.2f} to {max(values):.2f})")
            server.close()
        plain, large = (server.results for server in servers)
        for name in (name for name in plain if name.startswith("p99")):
            print(f"{name[:-4]}, thp to plain: {ratio(large[name], plain[name])}")


main()
