#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_sarif.py SCHEMA REPORT.json LOG.sarif: checks that LOG follows the official SCHEMA and
matches the JSON report of the same run.

Beyond the schema: every result names a rule that is there, by id and index; a
place is a relative or file: URI that has only characters of URIs; a line is 1
or more; and the results are the findings of REPORT, one for one, with the same
files and severities.

Prints one line for each difference, then a count. Exit status 0 when there is
none, 1 when there are some.
"""

import json
import os
import re
import site
import sys
from collections import Counter
from typing import Iterator
from urllib.parse import unquote_to_bytes

site.main()  # lit starts Python without packages
import jsonschema  # noqa: E402

from mpgtest.run import finish

URI = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+|file:///"
                 r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+")


def load(path: str) -> dict:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def schema_errors(schema: dict, log: dict) -> Iterator[str]:
    kind = jsonschema.validators.validator_for(schema)
    for error in kind(schema).iter_errors(log):
        yield "/".join(map(str, error.absolute_path)) + ": " + error.message


def get_place(result: dict) -> dict:
    return result["locations"][0]["physicalLocation"]


def result_errors(run: dict) -> Iterator[str]:
    rules = run["tool"]["driver"]["rules"]
    for number, result in enumerate(run["results"]):
        index = result["ruleIndex"]
        if index >= len(rules) or rules[index]["id"] != result["ruleId"]:
            yield f"result {number}: no rule {result['ruleId']} at {index}"
        uri = get_place(result)["artifactLocation"]["uri"]
        if not URI.fullmatch(uri):
            yield f"result {number}: no URI: {uri}"
        if get_place(result)["region"]["startLine"] < 1:
            yield f"result {number}: line below 1"
    unused = {rule["id"] for rule in rules} - {result["ruleId"] for result in run["results"]}
    for rule in sorted(unused):
        yield f"rule {rule} has no result"


def read_file(uri: str) -> bytes:
    return unquote_to_bytes(uri[7:] if uri.startswith("file://") else uri)


def path_bytes(entry: dict) -> bytes:
    """The file of an entry of the JSON report; of a member, its archive's."""
    path = (bytes.fromhex(entry["path_bytes"]) if "path_bytes" in entry else entry["path"].encode())
    if entry["kind"] == "archive-member":
        path = path.rpartition(b"(")[0]
    # Paths below the working folder are written without it.
    here = os.getcwdb() + b"/"
    return path[len(here):] if path.startswith(here) else path


def same_findings(report: dict, run: dict) -> Iterator[str]:
    wanted = Counter((path_bytes(entry), finding["id"], finding["severity"])
                     for entry in report["files"]
                     for finding in entry["findings"])
    found = Counter((read_file(get_place(result)["artifactLocation"]["uri"]),
                     result["ruleId"], result["level"])
                    for result in run["results"])
    for key, count in (wanted - found).items():
        yield f"{count} missing: {key}"
    for key, count in (found - wanted).items():
        yield f"{count} too many: {key}"


def main() -> int:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    schema, report, log = (load(path) for path in sys.argv[1:])
    run = log["runs"][0]
    wrong = [*schema_errors(schema, log)]
    if not wrong:  # the rest takes the form for granted
        wrong = [*result_errors(run), *same_findings(report, run)]
    return finish(wrong, f"check_sarif.py: {len(run['results'])} results, {{}} differences")


sys.exit(main())
