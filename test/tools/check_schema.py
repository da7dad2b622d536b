#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validates mpgaudit's JSON against docs/schema/mpgaudit-1.schema.json.

`check_schema.py FILE.json...` checks one object a file, FILE.jsonl one file
object a line. Prints each violation with its place and ends with 1 if there
was any. Stricter than the schema can say: a number written as 1.0 or 1e3 and a
repeated key are violations too, because readers in other languages would stop
at them.
"""

import argparse
import json
import os
import sys
from typing import Iterator, List, Tuple

import jsonschema

REPO = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SCHEMA = os.path.join(REPO, "docs", "schema", "mpgaudit-1.schema.json")


def refuse_number(text: str) -> None:
    raise ValueError(f"number {text} is not an integer")


def refuse_repeats(pairs: List[Tuple[str, object]]) -> dict:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"key {key} repeated")
    return dict(pairs)


def parse(text: str) -> object:
    """JSON as strict as it gets; raises ValueError."""
    return json.loads(text, parse_float=refuse_number,
                      parse_constant=refuse_number,
                      object_pairs_hook=refuse_repeats)


def documents(path: str) -> Iterator[Tuple[str, str]]:
    """(place, JSON text) of everything to validate in `path`."""
    with open(path, encoding="utf-8") as file:
        if not path.endswith(".jsonl"):
            yield path, file.read()
            return
        for number, line in enumerate(file, 1):
            yield f"{path}:{number}", line


def violations(path: str, schema: dict) -> Iterator[str]:
    """One line for each thing wrong in `path`."""
    if path.endswith(".jsonl"):
        schema = {**schema, "$ref": "#/$defs/file"}
        for key in ("type", "required", "properties", "additionalProperties"):
            del schema[key]
    validator = jsonschema.Draft202012Validator(schema)
    for place, text in documents(path):
        try:
            document = parse(text)
        except ValueError as error:
            yield f"{place}: {error}"
            continue
        for error in validator.iter_errors(document):
            inside = "/".join(map(str, error.absolute_path))
            yield f"{place}: /{inside}: {error.message[:300]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE.json|FILE.jsonl")
    arguments = parser.parse_args()
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    count = document_count = 0
    for path in arguments.files:
        document_count += sum(1 for _ in documents(path))
        for violation in violations(path, schema):
            count += 1
            print(violation)
    # An empty file must not pass for a valid one.
    if not document_count:
        print("check_schema.py: nothing to validate")
    print(f"{document_count} documents, {count} violations")
    return 1 if count or not document_count else 0


if __name__ == "__main__":
    sys.exit(main())
