# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference pages of the site, made from the tables that the programs work by:
findings, environment variables, options, and the schemas of what is written.

Each function returns a page as Markdown. What the pages in docs/ repeat of the
tables is made by test/tools/table_pages.py.
"""

import json
import sys
from pathlib import Path
from typing import Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/tools"))
from tables import (FINDINGS, TARGETS, read_options, read_rows,  # noqa: E402
                    read_variables, spelling)

PROGRAMS = ["mpgaudit", "mpgrun", "mpginfo", "mpgbench", "mpgsim",
            "mpg-ocl"]


def cell(text: object) -> str:
    """Text for a cell of a table: a bar and a sign of HTML stay what they are."""
    plain = " ".join(str(text).split())
    return plain.replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    return f"`{' '.join(text.split())}`".replace("|", "\\|") if text else ""


def table(head: List[str], rows: List[List[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def findings_page() -> str:
    rows = []
    for row in read_rows(FINDINGS, "MPG_FINDING"):
        number, vendor, group, *severities = row.args[:7]
        target = f"mpg{number}" + (f"-lpg-{vendor.split()[-1]}" if vendor else "")
        name = f"MPG{number}"
        if not number.startswith("9"):
            name = f"[{name}](findings.md#{target})"
        rows.append([name, vendor, cell(row.args[7]), group, *severities])
    return ("# All findings\n\nFrom the table that mpgaudit reports by, with the "
            "severity for each target.\n\n"
            + table(["finding", "vendor's", "what", "group", *TARGETS], rows))


def environment_page() -> str:
    rows = [[code(row.name), cell(row.what), code(row.values) or row.type,
             code(row.default), row.owner, code(row.needs)]
            for row in read_variables()]
    return ("# All environment variables\n\nFrom the table that libmpg reads by; "
            "[Environment variables](environment.md) explains them.\n\n"
            + table(["variable", "what", "values", "default", "of", "needs"], rows))


def options_page(llvm_bin: Path) -> str:
    text = "# All options\n\nFrom the tables that the programs parse by.\n"
    for program in PROGRAMS:
        rows = [[code(spelling(option)), cell(option["HelpText"])]
                for option in read_options(program, llvm_bin) if option["HelpText"]]
        text += f"\n## {program}\n\n" + table(["option", "what"], rows)
    return text


def get_type(field: Dict) -> str:
    """What a field may be, in few words."""
    if "$ref" in field:
        return field["$ref"].rsplit("/", 1)[-1]
    if "const" in field:
        return json.dumps(field["const"])
    if "enum" in field:
        return ", ".join(json.dumps(value) for value in field["enum"])
    for key in ("anyOf", "oneOf"):
        if key in field:
            return " or ".join(get_type(part) for part in field[key])
    kind = field.get("type", "")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    if kind == "array" and isinstance(field.get("items"), dict):
        return "array of " + (get_type(field["items"]) or "objects")
    return kind


def get_fields(schema: Dict) -> str:
    required = schema.get("required", [])
    rows = [[code(name), cell(get_type(field)), "" if name in required else "no",
             cell(field.get("description", ""))]
            for name, field in schema.get("properties", {}).items()]
    return table(["field", "is", "always", "what"], rows) if rows else ""


def schema_page(path: Path) -> str:
    schema = json.loads(path.read_text("utf-8"))
    text = f"# {schema['title']}\n\n{schema.get('description', '')}\n\n"
    text += f"The schema itself: [{path.name}](schema/{path.name}).\n\n"
    text += get_fields(schema)
    for name, part in schema.get("$defs", {}).items():
        what = part.get("description", "")
        body = get_fields(part) or (cell(get_type(part)) + "\n")
        text += f"\n## {name}\n\n{what}\n\n{body}"
    return text


def all_pages(llvm_bin: Path) -> Dict[str, str]:
    """Pages by the names that they have in the site."""
    pages = {"all-findings": findings_page(), "all-variables": environment_page(),
             "all-options": options_page(llvm_bin)}
    for path in sorted((ROOT / "docs/schema").glob("*.schema.json")):
        name = path.name.replace(".schema.json", "")
        pages[f"schema-{name}"] = schema_page(path)
    return pages
