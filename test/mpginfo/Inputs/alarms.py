"""Prints how many figures of mpginfo --fold --json have a slow node, a document a line."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        fold = json.loads(line)
        print(f"{fold['nodes']} nodes: {sum(1 for one in fold['figures'] if one['slow'])} of "
              f"{len(fold['figures'])} figures with a slow node")
