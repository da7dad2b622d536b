"""Prints what clush would print of a made-up fleet, a node each line.

REPORT is what mpginfo --json said of one node. Names: node1 to nodeNODES. --spoil makes nodes 17
and 99 differ, and nodes 3 to 7 unusable. --figures prints reports of mpgbench instead, of
N bandwidths with a normal distribution; --slow: the last N nodes have 80 % of it.
"""

import json
import os
import random
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../lib"))
from mpgtest.options import parse  # noqa: E402


def bench(generator: random.Random, figures: int, share: float) -> str:
    points = [{"name": f"triad/{index}", "summary": {
        "median": round(max(1.0, generator.gauss(800, 12)) * share, 3)}}
        for index in range(figures)]
    return json.dumps({"schema": "mpgbench-1", "experiments": [
        {"unit": "GB/s", "higher_is_better": True, "points": points}]})


def spoiled(number: int, text: str) -> str:
    report = json.loads(text)
    if number == 17:
        report["transparent"]["enabled"] = "never"
    elif number == 99:
        report["version"] = "0.0.9"
        report["pages"]["pools"][0]["total"] = 7
    return {3: text[:-30], 4: "bash: line 1: mpginfo: command not found",
            5: '{"schema": "mpginfo-9"}', 6: "{" + '"a":[' * 5000,
            7: '{"schema": "mpginfo-1", "verdict": [], "machine": "\\u001b[31m"}',
            }.get(number, json.dumps(report))


def main() -> None:
    options = parse(__doc__, "report", "nodes", slow=0, spoil=False, figures=0, seed=1)
    generator = random.Random(options.seed)
    with open(options.report, encoding="utf-8") as file:
        text = file.read().strip()
    nodes = int(options.nodes)
    numbers = list(range(1, nodes + 1))
    generator.shuffle(numbers)  # clush prints in the order of the answers
    memory = json.loads(text)["pages"]["memory_bytes"]
    for number in numbers:
        own = text.replace(str(memory), str(memory - number % 97 * 4096))
        own = own.replace('"available_bytes":', f'"available_bytes":{number}', 1)
        if options.figures:
            is_slow = number > nodes - options.slow
            own = bench(generator, options.figures, 0.8 if is_slow else 1)
        elif options.spoil and number in (3, 4, 5, 6, 7, 17, 99):
            own = spoiled(number, text)
        print(f"node{number}: {own}")


main()
