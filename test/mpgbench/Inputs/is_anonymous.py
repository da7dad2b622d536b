"""is_anonymous.py FILE [NAME...]: checks that the JSON names no place.

No text in FILE may contain the name of this machine or user, one of NAMEs, or an
absolute path. Prints what it found; exit status 1 then.
"""

import getpass
import json
import re
import socket
import sys
from typing import Iterator

PATH = re.compile(r"(?<![\w)%])/\w\S*")
# Words of the program's own sentences ("root can set it to 2").
COMMON = {"root", "localhost", ""}


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from texts(part)


def main() -> int:
    names = {socket.gethostname(), socket.gethostname().split(".")[0]}
    names |= {getpass.getuser(), *sys.argv[2:]}
    word = re.compile(r"\b(" + "|".join(re.escape(name) for name in names - COMMON) + r")\b")
    with open(sys.argv[1], encoding="utf-8") as file:
        all_texts = list(texts(json.load(file)))
    found = [
        f"{match.group()} in: {text}"
        for text in all_texts
        for match in (word.search(text), PATH.search(text))
        if match
    ]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
