# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command line in one expression."""

from __future__ import annotations

import argparse
from typing import Any, Optional


def parse(doc: Optional[str], *operands: str, **options: Any) -> argparse.Namespace:
    """The command line. An option has its default: a number, path or text is of that type, False
    is a switch, a list may be repeated, None is a text; a type has to be given; a dict has
    argparse's own words. An operand is a word; NAME? may be missing, NAME* and NAME+ are several,
    NAME... all that follows."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in options.items():
        words: Any = {"type": type(value), "default": value}
        if isinstance(value, dict):
            words = value
        elif isinstance(value, type):
            words = {"type": value, "required": True}
        elif isinstance(value, list):
            words = {"action": "append", "default": value}
        elif value is None:
            words = {}
        elif value is False:
            words = {"action": "store_true"}
        parser.add_argument("--" + name.replace("_", "-"), **words)
    for operand in operands:
        name = operand.rstrip("?*+.")
        nargs = {"": None, "...": argparse.REMAINDER}
        parser.add_argument(name, nargs=nargs.get(operand[len(name):], operand[len(name):]))
    return parser.parse_args()
