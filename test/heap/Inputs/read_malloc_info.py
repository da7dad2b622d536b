# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# read_malloc_info.py OURS LIBC: OURS is the output of libmpg's malloc_info, LIBC the C library's in
# the same program. Ends with an error if ours has other elements than the C library's or
# inconsistent sums; prints the values that a test checks.
import sys
import xml.etree.ElementTree as tree


def shapes(element, path=""):
    path += "/" + element.tag + "[" + element.get("type", "") + "]"
    yield path + " " + " ".join(sorted(element.keys()))
    for child in element:
        yield from shapes(child, path)


def total(element, kind):
    found = element.find(f"total[@type='{kind}']")
    return int(found.get("count")), int(found.get("size"))


def number(element, tag, kind):
    return int(element.find(f"{tag}[@type='{kind}']").get("size"))


ours = tree.parse(sys.argv[1]).getroot()
libc = tree.parse(sys.argv[2]).getroot()
known = set(shapes(libc))
strange = {shape for shape in shapes(ours) if shape not in known}
assert not strange, strange

sums = {"fast": [0, 0], "rest": [0, 0], "current": 0}
for heap in ours.findall("heap"):
    counts = {kind: total(heap, kind) for kind in ("fast", "rest")}
    for kind, (count, size) in counts.items():
        sums[kind][0] += count
        sums[kind][1] += size
    sizes = heap.findall("sizes/size")
    for size in sizes:
        least, most = int(size.get("from")), int(size.get("to"))
        count, bytes_ = int(size.get("count")), int(size.get("total"))
        assert count > 0 and least * count <= bytes_ <= most * count, size.attrib
    assert sum(int(size.get("count")) for size in sizes) == sum(
        count for count, _ in counts.values()
    )
    assert sum(int(size.get("total")) for size in sizes) == sum(size for _, size in counts.values())
    current = number(heap, "system", "current")
    assert sum(size for _, size in counts.values()) <= current
    assert number(heap, "aspace", "total") == current
    sums["current"] += current

for kind in ("fast", "rest"):
    assert total(ours, kind) == tuple(sums[kind]), kind
mmap = total(ours, "mmap")
current = number(ours, "system", "current")
assert current == sums["current"] + mmap[1]
assert number(ours, "system", "max") >= current
print("heaps", len(ours.findall("heap")))
print("mmap", mmap[0], mmap[1] >> 20, "MiB")
print("current", current)
small = ours.find("heap[@nr='0']/sizes/size[@to='48']")
print("48 bytes", small.get("from"), int(small.get("count")) >= 60)
