# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages under memory of this process, as the kernel reports them.

The mapping shows whether it uses the pool (/proc/self/smaps), a scan of the page map which of its
pages are present and which are large (PAGEMAP_SCAN, Linux 6.7), and move_pages(2) the node of each,
moving none. Before 6.7 the page map has the present pages, and smaps how much of the whole mapping
is on large pages: unless that is nothing or all, the array's share is unknown. Needs no rights.
"""

import ctypes
import fcntl
import os
import platform
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_QUERIES = 1 << 18  # pages that are asked for their node; above that a sample


class Pages(NamedTuple):
    """The pages under an array; the counts are bytes of the array."""

    address: int
    bytes: int  # from its first to its last element
    base: int  # on pages of the base size
    thp: int  # on transparent huge pages
    hugetlb: int  # on pages of the pool
    absent: int  # not in memory: never written, or swapped out
    unknown: int  # there or not, the kernel does not say on which pages
    nodes: Optional[Dict[int, int]]  # bytes on each NUMA node; None: not known

    def __str__(self) -> str:
        names = (("base", f"pages of {_size(PAGE)}"), ("thp", "transparent huge pages"),
                 ("hugetlb", "pages of the pool"), ("absent", "not in memory"),
                 ("unknown", "not known"))
        parts = [f"{_size(getattr(self, name))} {text}" for name, text in names
                 if getattr(self, name)]
        if self.nodes is None:
            parts.append("nodes not known")
        parts += [f"node {node}: {_size(count)}"
                  for node, count in sorted((self.nodes or {}).items())]
        return f"{_size(self.bytes)} at {self.address:#x}: {', '.join(parts) or 'nothing'}"


class _Mapping(NamedTuple):
    start: int
    end: int
    page: int  # its size
    present: int
    huge: int


class _Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object),
                ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p),
                ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
                ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
                ("internal", ctypes.c_void_p)]


def _size(count: int) -> str:
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >> shift:
            return f"{count / (1 << shift):.4g} {unit}"
    return f"{count} B"


def _span(array: Any) -> Tuple[int, int]:
    """Address and bytes, from the first to the last element in memory."""
    strided = 0x18  # PyBUF_STRIDED_RO
    view = _Buffer()
    try:
        ctypes.pythonapi.PyObject_GetBuffer(
            ctypes.py_object(array), ctypes.byref(view), strided)
    except TypeError:
        raise TypeError(
            f"mpgtools.pages: a {type(array).__name__} does not show its memory; give a "
            "numpy array, bytearray, array.array, mmap or memoryview") from None
    try:
        if view.len == 0:
            return view.buf or 0, 0
        low, high = 0, view.itemsize
        for axis in range(view.ndim):
            reach = (view.shape[axis] - 1) * view.strides[axis]
            low, high = low + min(reach, 0), high + max(reach, 0)
        return view.buf + low, high - low
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))


def _mappings(start: int, end: int) -> List[_Mapping]:
    found: List[_Mapping] = []
    with open("/proc/self/smaps", encoding="ascii", errors="replace") as file:
        inside = False
        for line in file:
            words = line.split(None, 2)
            if not words[0].endswith(":"):
                low, high = (int(word, 16) for word in words[0].split("-"))
                inside = low < end and start < high
                if inside:
                    found.append(_Mapping(low, high, PAGE, 0, 0))
                continue
            name = {"KernelPageSize:": "page", "Rss:": "present",
                    "AnonHugePages:": "huge"}.get(words[0]) if inside else None
            if name:
                found[-1] = found[-1]._replace(**{name: int(words[1]) << 10})
    return found


def _scan(file: int, start: int, end: int) -> Iterator[Tuple[int, int, bool]]:
    """Stretches that are in memory, and whether on large pages. OSError if the kernel cannot report
    them."""
    present, zero, huge = 1 << 3, 1 << 5, 1 << 6
    request = 0xC0606610  # PAGEMAP_SCAN
    regions = (ctypes.c_uint64 * (3 * 1024))()
    while start < end:
        words = bytearray(struct.pack(
            "12Q", 96, 0, start, end, 0, ctypes.addressof(regions), 1024, 0,
            zero, present | zero, 0, huge))  # there, and not the page of zeros
        count = fcntl.ioctl(file, request, words, True)
        for at in range(0, 3 * count, 3):
            yield regions[at], regions[at + 1], bool(regions[at + 2] & huge)
        start = struct.unpack_from("Q", words, 32)[0]


def _read(file: int, start: int, end: int) -> Iterator[Tuple[int, int]]:
    """Stretches that are in memory, by the older interface."""
    pages = 1 << 16
    for at in range(start, end, pages * PAGE):
        count = min(pages, (end - at) // PAGE)
        data = os.pread(file, 8 * count, at // PAGE * 8)
        for index, (word,) in enumerate(struct.iter_unpack("Q", data)):
            if word >> 63:
                yield at + index * PAGE, at + (index + 1) * PAGE


def _kinds(file: int, mapping: _Mapping, start: int,
           end: int) -> Iterator[Tuple[int, int, str]]:
    """The present part of [start, end), whole base pages of the mapping."""
    pool = mapping.page > PAGE
    try:
        scanned = list(_scan(file, start, end))
    except OSError:
        scanned = None
    if scanned is not None:
        for low, high, huge in scanned:
            yield low, high, "hugetlb" if pool else "thp" if huge else "base"
        return
    kind = "hugetlb" if pool else "base" if mapping.huge == 0 else \
        "thp" if mapping.huge >= mapping.present else "unknown"
    for low, high in _read(file, start, end):
        yield low, high, kind


def _nodes(parts: List[Tuple[int, int]]) -> Optional[Dict[int, int]]:
    """Bytes on each node; None if the system does not report it."""
    number = {"x86_64": 279, "aarch64": 239}.get(platform.machine())
    if number is None:
        return None
    total = sum(end - start for start, end in parts)
    step = PAGE * max(1, -(-total // (PAGE * MOST_QUERIES)))
    asked = [(at, min(step, end - at)) for start, end in parts
             for at in range(start, end, step)]
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    nodes: Dict[int, int] = {}
    for first in range(0, len(asked), 4096):
        some = asked[first:first + 4096]
        places = (ctypes.c_void_p * len(some))(*(at for at, _ in some))
        status = (ctypes.c_int * len(some))()
        if call(ctypes.c_long(number), ctypes.c_long(0), ctypes.c_ulong(len(some)),
                places, None, status, ctypes.c_long(0)):
            return None
        for (_, count), node in zip(some, status):
            if node >= 0:
                nodes[node] = nodes.get(node, 0) + count
    return nodes


def pages(array: Any) -> Pages:
    """The pages under the memory of `array`: a numpy array, bytearray, array.array, mmap,
    memoryview, or any other object with the buffer protocol. For a view with steps: all from its
    first to its last element."""
    address, length = _span(array)
    end = address + length
    kinds = dict.fromkeys(("base", "thp", "hugetlb", "unknown"), 0)
    parts: List[Tuple[int, int]] = []
    try:
        file = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return Pages(address, length, 0, 0, 0, 0, length, None)
    try:
        for mapping in _mappings(address, end) if length else []:
            start = max(mapping.start, address // PAGE * PAGE)
            stop = min(mapping.end, -(-end // PAGE) * PAGE)
            for low, high, kind in _kinds(file, mapping, start, stop):
                low, high = max(low, address), min(high, end)
                kinds[kind] += high - low
                parts.append((low, high))
    finally:
        os.close(file)
    return Pages(address, length, kinds["base"], kinds["thp"], kinds["hugetlb"],
                 length - sum(kinds.values()), kinds["unknown"], _nodes(parts))
