#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validates the tools' JSON against docs/schema/NAME.schema.json.

`check_schema.py FILE.json...` checks one object a file, whose key "schema" names it; FILE.jsonl
holds lines of mpgaudit-1. Prints each violation with its place and ends with 1 if there was any.
Stricter than the schema language: a number written as 1.0 or 1e3 and a repeated key are violations
too, because readers in other languages would reject them.
"""

import functools
import json
import os
import site
import sys
from typing import Iterator, List, Tuple

site.main()  # lit starts Python without packages
import jsonschema  # noqa: E402
from mpgtest.run import finish  # noqa: E402

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCHEMAS = os.path.join(REPO, "docs", "schema")


# Schemas of measurements; in all others every number is an integer.
FRACTIONS = ("mpgbench-1", "mpgcompare-1")


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
    measured = any(f'"{name}"' in text[:200] for name in FRACTIONS)
    return json.loads(text, parse_float=float if measured else refuse_number,
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


@functools.lru_cache(maxsize=None)
def get_validator(name: str, for_lines: bool) -> jsonschema.Draft202012Validator:
    """Raises ValueError if the schema does not exist."""
    path = os.path.join(SCHEMAS, os.path.basename(f"{name}.schema.json"))
    if not os.path.exists(path):
        raise ValueError(f"there is no schema {name!r}")
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    if for_lines:
        schema["$ref"] = "#/$defs/line"
        for key in ("type", "required", "properties", "additionalProperties"):
            del schema[key]
    return jsonschema.Draft202012Validator(schema)


def violations(path: str) -> Iterator[str]:
    """One line for each thing wrong in `path`."""
    for_lines = path.endswith(".jsonl")
    for place, text in documents(path):
        try:
            document = parse(text)
            name = "mpgaudit-1" if for_lines else document.get("schema")
            validator = get_validator(name, for_lines)
        except (ValueError, AttributeError) as error:
            yield f"{place}: {error}"
            continue
        for error in validator.iter_errors(document):
            inside = "/".join(map(str, error.absolute_path))
            yield f"{place}: /{inside}: {error.message[:300]}"


def main() -> int:
    files = sys.argv[1:]
    document_count = sum(1 for path in files for _ in documents(path))
    # An empty file must not pass for a valid one.
    if not document_count:
        print("check_schema.py: nothing to validate")
    return finish([what for path in files for what in violations(path)],
                  f"{document_count} documents, {{}} violations", document_count)


sys.exit(main())
