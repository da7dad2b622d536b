"""Prints a report in the forms that clush, pdsh and srun give it."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    line = file.read()
print("n1: Welcome to the cluster")
print("n1:", line)
print("n1:", line)  # asked twice
print("clush: n1: exited with exit code 1")
for part in json.dumps(json.loads(line), indent=2).split("\n"):
    print("n2:", part)
print("row 7 left:", line)
print("rack1n04-ib:", line)
print("  12:", line)  # srun --label: the report names the node
line = line.replace('"host":"pc"', '"host":"label"')
for start in range(0, len(line), 1024):  # and it cuts lines
    print("  13:", line[start:start + 1024])
print("clush: n[8-9] (2): exited with exit code 127")
print("pdsh@head: n10: ssh exited with exit code 255")
