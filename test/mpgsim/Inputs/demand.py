# Of array a: the misses of each cache that no prefetch has foreseen, and all.
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
page = next(array for array in report["arrays"] if array["name"] == "a")["pages"][0]
print(", ".join(f"{name} {page['demandMisses'][name][0]} of {all_of[0]}"
                for name, all_of in page["cacheMisses"].items()))
