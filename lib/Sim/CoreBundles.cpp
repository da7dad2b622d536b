// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs all accesses of a basic block at once. Most of them do nothing: the
// access is in the line of the one before it in the last pass, and that line is
// still the newest of its set. TLBs and caches do not change each other, so
// TLBs are asked apart: only if one has changed since the last pass, or an
// access goes to another page. So this is exact.

#include "Sim/CoreParts.h"

using namespace mpg::sim;

void Core::findPages(Bundle &bundle, const uint64_t *addresses) const {
  bundle.pageUses.clear();
  bundle.findsPages = false;
  uint64_t last = noLine;
  for (const Bundle::Member &member : bundle.members) {
    uint64_t begin = addresses[member.address] + member.offset;
    uint64_t page = begin >> lineBits >> pageShift;
    if (page != last)
      bundle.pageUses.emplace_back(page, member.site);
    last = (begin + slots[member.site].bytes - 1) >> lineBits >> pageShift;
    if (page == last)
      continue;
    bundle.pageUses.emplace_back(last, member.site);
    bundle.findsPages = true;
  }
}

/// Where no TLB has changed since all pages of \p bundle were in the TLBs of a
/// size, they still are. The last page is that of the same access in all sizes,
/// \see lookupPages.
void Core::lookupAllPages(Bundle &bundle, bool areNew) {
  for (size_t at = 0; at < pages.size(); ++at) {
    Pages &size = pages[at];
    uint64_t before = size.changes;
    unsigned shift = size.shift - pageShift;
    if (!areNew && bundle.knownAt[at] == before) {
      size.last = bundle.pageUses.back().page >> shift;
      continue;
    }
    for (const Bundle::PageUse &use : bundle.pageUses)
      if (uint64_t page = use.page >> shift; page != size.last) {
        if (size.isUnchangedBy(page))
          size.last = page;
        else
          lookupPage(size, slots[use.site], page);
      }
    bundle.knownAt[at] = size.changes == before ? before : 0;
  }
}

void Core::pass(Bundle &bundle, const uint64_t *addresses) {
  begin();
  ++bundle.passes;
  bundle.knownAt.resize(pages.size());
  bool moves = bundle.findsPages;
  pagesApart = true;
  for (const Bundle::Member &member : bundle.members) {
    Slot &slot = slots[member.site];
    uint64_t begin = addresses[member.address] + member.offset;
    uint64_t line = begin >> lineBits;
    uint64_t end = (begin + slot.bytes - 1) >> lineBits;
    if (line == end && line == slot.line &&
        isNewest(line, slot.key, slot.keyMask))
      continue;
    moves |= ((line ^ slot.line) | (end ^ slot.line)) >> pageShift != 0;
    touchAnew(slot, line, end);
  }
  pagesApart = false;
  if (moves)
    findPages(bundle, addresses);
  lookupAllPages(bundle, moves);
}

void Core::settle(Bundle &bundle) {
  for (const Bundle::Member &member : bundle.members)
    slots[member.site].accesses += bundle.passes;
  bundle.passes = 0;
  bundle.findsPages = true;
}
