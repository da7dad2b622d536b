# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large pages for Python programs.

    python -m mpgtools script.py       runs a script under mpgrun
    mpgtools.pages(array)              the pages under an array

    Pure Python; pages() needs nothing else of mpgtools, and no numpy.
"""

from mpgtools._pages import Pages, pages

__all__ = ["Pages", "pages"]
