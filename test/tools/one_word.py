# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A folder by a path that is one word, for shells and for lists of the loader.

RUN lines have paths without quotes, LD_PRELOAD cannot quote, -Wl ends a word at a comma, and lit
interprets %. A clone may still be in a folder with any name: its tests see it through a link in the
folder for temporary files.
"""

import hashlib
import os
import re
import tempfile


def one_word(path: str) -> str:
    """The path itself if it is one word, else that of a link to it."""
    if re.fullmatch(r"[\w/.+@=-]+", path, re.ASCII):
        return path
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    link = os.path.join(tempfile.gettempdir(), f"mpgtools-{os.getuid()}-{name}")
    try:
        os.symlink(path, link)
    except FileExistsError:
        # Another user may have made one that leads elsewhere.
        if os.readlink(link) != path:
            raise
    return link
