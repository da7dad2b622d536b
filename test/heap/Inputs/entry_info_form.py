"""The form of what malloc_stats and malloc_info print, without its numbers.

    entry_info_form.py FILE

FILE is the output of entry-info.c. malloc_info's XML has to be well-formed. Prints the elements
directly below each document's root, which programs read. Other lines are passed on, each number as
N.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
for document in re.findall(r"(?s)<malloc.*?</malloc>", text):
    root = ElementTree.fromstring(document)
    print("root:", root.tag, root.attrib)
    for element in root:
        names = sorted(element.attrib)
        kind = element.get("type", "")
        numbers = all(value.isdigit() for name, value in element.attrib.items() if name != "type")
        print(" ", element.tag, kind, names, "numbers" if numbers else "NO NUMBERS")
for line in re.sub(r"(?s)<malloc.*?</malloc>\n?", "", text).splitlines():
    is_result = line.startswith(("wrong", "mallopt"))
    print(line if is_result else re.sub(r" *\d+", " N", line))
