#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_html.py PAGE...: is PAGE well formed, harmless and accessible?

Every element is closed where it should be; nothing runs (scripts, event attributes) and nothing is
loaded; ids are unique and links inside the page have a target; there is a language and a title; a
heading never skips a level; header cells have a scope and pictures a text; the page is below 24
MiB.

Prints one line for each fault, then a count. Exit status 0 when there is none,
1 when there are some.
"""

import os
import sys
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link", "input"}
RUNS = {"script", "iframe", "object", "embed", "link", "img", "base", "form"}
LIMIT_BYTES = 24 << 20


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.faults, self.open, self.ids, self.links = [], [], set(), set()
        self.level, self.seen = 0, set()

    def fault(self, text):
        self.faults.append(f"{self.getpos()[0]}: {text}")

    def handle_starttag(self, tag, attrs):
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
    count = 0
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
        count += len(page.faults)
        for line in page.faults:
            print(f"{path}:{line}")
    print(f"check_html.py: {len(sys.argv) - 1} pages, {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
