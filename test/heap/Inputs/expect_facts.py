#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PROGRAM | expect_facts.py CONDITION...: do the facts meet all conditions?

Reads lines NAME.FACT=VALUE (a whole number, decimal or hexadecimal, or several separated by commas)
and repeats them. A line with "not testable here" also counts as an answer. A condition is a Python
expression over NAME.FACT. Prints conditions that fail, or that use a missing fact, on standard
error. Exit status 0 if all hold.
"""

import sys
from types import SimpleNamespace
from typing import Dict


def main() -> int:
    facts: Dict[str, SimpleNamespace] = {}
    for line in sys.stdin:
        print(line, end="")
        if line.startswith("not testable here: "):
            return 0
        name, equals, value = line.strip().partition("=")
        group, dot, fact = name.partition(".")
        if not (equals and dot):
            continue
        numbers = [int(word, 0) for word in value.split(",") if word]
        one = numbers[0] if numbers and "," not in value else numbers
        setattr(facts.setdefault(group, SimpleNamespace()), fact, one)
    failed = 0
    for condition in sys.argv[1:]:
        try:
            met = eval(condition, {}, dict(facts))
        except (NameError, AttributeError) as error:
            print(f"expect_facts.py: {condition}: {error}", file=sys.stderr)
            met = False
        if not met:
            print(f"expect_facts.py: not met: {condition}", file=sys.stderr)
            failed += 1
    return 1 if failed or not sys.argv[1:] else 0


sys.exit(main())
