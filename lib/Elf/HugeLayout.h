// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of large-page frames: which segments of a program would meet in
// one large page, and how many bytes of its writable data can be on large
// pages. Pure functions over segments in table order; all sizes in bytes.

#pragma once

#include "Elf/Image.h"

namespace mpg {

/// \p unit is a power of two. roundUp saturates at the last multiple.
uint64_t roundDown(uint64_t value, uint64_t unit);
uint64_t roundUp(uint64_t value, uint64_t unit);

/// Two neighbours among the PT_LOADs, as positions in Image::loads(); these
/// are the numbers that the vendor's message LPG 2003 and libhugetlbfs print.
struct OverlapPair {
  unsigned first;
  unsigned second;
};

/// The pair rule (HW:pair-rule): every segment is rounded out, a writable one
/// to large pages, the others to base pages; neighbours of which at least one
/// is writable conflict when the first then ends above the start of the second.
/// The base page size does not change the answer because it divides the large
/// page, so it is not a parameter.
std::vector<OverlapPair> findOverlaps(llvm::ArrayRef<Segment> loads,
                                      uint64_t hugeBytes);

/// Sum of p_memsz of the writable segments.
uint64_t writableBytes(llvm::ArrayRef<Segment> loads);

/// The large pages that hold bytes of the writable segments: what moving all of
/// them costs in pool pages. One that two segments share counts once.
uint64_t roundedOutBytes(llvm::ArrayRef<Segment> loads, uint64_t hugeBytes);

/// A half-open range of addresses.
struct AddressRange {
  uint64_t start;
  uint64_t end;
  uint64_t bytes() const { return end > start ? end - start : 0; }
};

/// Takes \p hole out of every range.
void subtractRange(std::vector<AddressRange> &ranges, AddressRange hole);

/// Whole frames inside the writable segments, RELRO excluded: what can be on
/// large pages as the file is, without touching a neighbour.
std::vector<AddressRange> interiorRanges(llvm::ArrayRef<Segment> loads,
                                         llvm::ArrayRef<Segment> segments,
                                         uint64_t hugeBytes);
uint64_t interiorBytes(llvm::ArrayRef<Segment> loads,
                       llvm::ArrayRef<Segment> segments, uint64_t hugeBytes);

struct MovedPages {
  uint64_t min, max;
};

/// Large pages that our libmpg takes for the program's own data; where the
/// kernel chooses the load address, the fewest and the most. An edge that is
/// shared with nothing is one of them if half of it is data
/// (runtime/src/segments).
MovedPages countMovedPages(llvm::ArrayRef<Segment> loads,
                           const std::optional<Segment> &relro,
                           uint64_t hugeBytes, bool isMovable);

/// Whole frames of a segment that is not written to, in which the kernel can
/// map large pages of the page cache: address and offset in the file agree
/// within a large page. Measured, HW:file-thp.
uint64_t fileFrameBytes(const Segment &load, uint64_t hugeBytes);

/// Bytes of [start, start + bytes) that lie in one of \p ranges.
uint64_t coveredBytes(llvm::ArrayRef<AddressRange> ranges, uint64_t start,
                      uint64_t bytes);

} // namespace mpg
