#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_html.py PAGE...: is PAGE well formed, harmless and accessible?

Every element is closed where it should be; nothing runs (scripts, event attributes) and nothing is
loaded; ids are unique and links inside the page have a target; there is a language and a title; a
heading never skips a level; header cells have a scope and pictures a text; what a picture draws
lies inside of it, and no label of a plot over another; the page is below 24 MiB.

Prints one line for each fault, then a count. Exit status 0 when there is none,
1 when there are some.
"""

import os
import re
import sys
import unicodedata
from html.parser import HTMLParser

from mpgtest.run import finish

VOID = {"meta", "br", "hr", "img", "link", "input"}
RUNS = {"script", "iframe", "object", "embed", "link", "img", "base", "form"}
LIMIT_BYTES = 24 << 20


class Picture:
    """One <svg> with a viewBox, whose numbers are all absolute."""

    def __init__(self, values, fault):
        self.left, self.top, width, height = map(float, values["viewbox"].split())
        self.right, self.bottom = self.left + width, self.top + height
        self.is_plot, self.fault, self.labels = values.get("class") == "plot", fault, []

    def expect_inside(self, x, y, what):
        if not (self.left <= x <= self.right and self.top <= y <= self.bottom):
            self.fault(f"{what} at {x}, {y} is outside of its picture")

    def draw(self, tag, values):
        for suffix in ("", "1", "2"):
            for prefix in ("", "c"):
                x, y = (values.get(prefix + axis + suffix) for axis in "xy")
                if x or y:
                    self.expect_inside(float(x or self.left), float(y or self.top), tag)
        if tag == "rect":
            self.expect_inside(float(values["x"]) + float(values["width"]),
                               float(values["y"]) + float(values["height"]), tag)
        if tag == "path" and self.is_plot:
            numbers = [float(word) for word in re.split("[ ML]+", values["d"].strip("M"))]
            for x, y in zip(numbers[::2], numbers[1::2]):
                self.expect_inside(x, y, tag)

    def label(self, values, text):
        """Each column of text counts 6 units; letters are narrower."""
        x, y = float(values["x"]), float(values["y"])
        width = 6 * sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)
        if "transform" in values:  # boxes of labels that stand askew overlap; the labels do not
            self.expect_inside(x - 0.71 * width, y + 0.71 * width, text)
            return
        left = x - width * {"end": 1, "middle": 0.5}.get(values.get("text-anchor"), 0)
        box = left, left + width, y - 8, y + 2, text
        self.expect_inside(left, y - 8, text)
        self.expect_inside(left + width, y + 2, text)
        for other in self.labels:
            if (box[0] < other[1] and other[0] < box[1] and box[2] < other[3] and
                    other[2] < box[3]):
                self.fault(f"'{text}' over '{other[4]}'")
        self.labels.append(box)


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.picture = self.label = None
        self.faults, self.open, self.ids, self.links = [], [], set(), set()
        self.level, self.seen = 0, set()

    def fault(self, text):
        self.faults.append(f"{self.getpos()[0]}: {text}")

    def handle_data(self, data):
        if self.label:
            self.picture.label(self.label, data.strip())
            self.label = None

    def handle_starttag(self, tag, attrs):
        if tag == "text" and self.picture and self.picture.is_plot:
            self.label = dict(attrs)
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        values = dict(attrs)
        self.seen.add(tag)
        if tag in RUNS:
            self.fault(f"element {tag}")
        for name, value in attrs:
            if name.startswith("on"):
                self.fault(f"attribute {name}")
            if name == "src" or name == "href" and not value.startswith("#"):
                self.fault(f"loads {value}")
        if "id" in values:
            if values["id"] in self.ids:
                self.fault(f"second id {values['id']}")
            self.ids.add(values["id"])
        if values.get("href", "").startswith("#"):
            self.links.add(values["href"][1:])
        if tag == "svg":
            self.picture = Picture(values, self.fault) if "viewbox" in values else None
        elif self.picture:
            self.picture.draw(tag, values)
        self.check_access(tag, values)

    def check_access(self, tag, values):
        if tag == "html" and not values.get("lang"):
            self.fault("no language")
        if tag == "th" and "scope" not in values:
            self.fault("header cell without scope")
        if tag == "svg" and "svg" not in self.open and not (
                values.get("aria-label") or "aria-labelledby" in values or
                "aria-hidden" in values):
            self.fault("picture without text")
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            if int(tag[1]) > self.level + 1:
                self.fault(f"{tag} after h{self.level}")
            self.level = int(tag[1])

    def handle_endtag(self, tag):
        if tag not in self.open:
            self.fault(f"/{tag} closes nothing")
            return
        if tag == "svg":
            self.picture = None
        while self.open[-1] != tag:
            self.fault(f"{self.open.pop()} is not closed")
        self.open.pop()

    def finish(self):
        self.close()
        for tag in self.open:
            self.fault(f"{tag} is not closed")
        for link in sorted(self.links - self.ids):
            self.fault(f"no target of #{link}")
        for tag in {"html", "title", "main", "h1"} - self.seen:
            self.fault(f"no {tag}")


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    faults = []
    for path in sys.argv[1:]:
        page = Page()
        with open(path, encoding="utf-8", errors="strict") as file:
            text = file.read()
        if "@import" in text or "url(" in text.replace("url(#", ""):
            page.fault("the style sheet loads something")
        page.feed(text)
        page.finish()
        if os.path.getsize(path) > LIMIT_BYTES:
            page.fault("larger than 24 MiB")
        faults += [f"{path}:{line}" for line in page.faults]
    return finish(faults, f"check_html.py: {len(sys.argv) - 1} pages, {{}} faults")


sys.exit(main())
