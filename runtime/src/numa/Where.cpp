// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Numa.h. The table of mpg_print_where is built line by line on the stack:
// it may be asked for in a signal handler of a program that hangs. And
// mpg_move, which looks where pages lie before and after.

#include "base/Messages.h"
#include "base/Range.h"
#include "mpg/mpg.h"
#include "numa/Numa.h"
#include "pages/Pages.h"
#include "pages/PagesNuma.h"
#include <errno.h>
#include <string.h>

using namespace mpg;

namespace {

/// Pages of one size on one node, or a part of such a page.
struct Found {
  int node;
  size_t bytes;     ///< those inside of the range that was asked for
  size_t pageBytes; ///< transparent large pages have the base size here
};

} // namespace

/// Whole pages of \p extent.
static Range roundToPages(const Extent &extent) {
  return {roundDown(extent.range.start, extent.pageBytes),
          roundUp(extent.range.end, extent.pageBytes)};
}

/// Calls \p visit for each present page of \p asked. Returns 0, EFAULT if a
/// part is not mapped, or another errno value if the system does not report the
/// nodes; \p visit may have been called for some pages by then. Asks the kernel
/// for each page; touches and allocates nothing.
template <typename Visit> static int findPages(Range asked, Visit visit) {
  if (asked.end <= asked.start)
    return EFAULT;
  uintptr_t known = asked.start;
  Extents extents(asked);
  Extent extent;
  while (extents.next(extent)) {
    if (extent.range.start > known)
      return EFAULT;
    size_t pageBytes = extent.pageBytes;
    auto visitPage = [&](uintptr_t page, int node) {
      Range inside = common({page, page + pageBytes}, asked);
      visit(Found{node, inside.bytes(), pageBytes});
      return true;
    };
    if (int error = visitPages(roundToPages(extent), pageBytes, visitPage))
      return error;
    known = extent.range.end;
  }
  return known < asked.end ? EFAULT : 0;
}

int mpg::computeHome(Range range, size_t pageBytes) {
  int home = -1;
  size_t bytes = 0;
  int error = findPages(range, [&](const Found &found) {
    if (bytes == 0)
      home = found.node;
    if (found.node == home && found.pageBytes >= pageBytes)
      bytes += found.bytes;
  });
  return error || bytes != range.bytes() ? -1 : home;
}

static Range getRange(const void *memory, size_t bytes) {
  auto start = reinterpret_cast<uintptr_t>(memory);
  return {start, start + bytes};
}

size_t mpg_where(const void *memory, size_t bytes, size_t *out, int nodes) {
  for (int node = 0; node < nodes; ++node)
    out[node] = 0;
  if (bytes == 0)
    return 0;
  size_t present = 0;
  int error = findPages(getRange(memory, bytes), [&](const Found &found) {
    present += found.bytes;
    if (found.node < nodes)
      out[found.node] += found.bytes;
  });
  if (!error)
    return present;
  errno = error;
  return size_t(-1);
}

// The table

namespace {

struct Row {
  size_t bytes;
  size_t minPage, maxPage; ///< sizes of pages, 0: none
};

struct Table {
  static constexpr int maxNodes = 128; ///< 3 KiB: it is on the stack
  Row rows[maxNodes + 1];              ///< the last for all further nodes
};

} // namespace

static void addToTable(Table &table, const Found &found) {
  Row &row =
      table.rows[found.node < Table::maxNodes ? found.node : Table::maxNodes];
  row.bytes += found.bytes;
  if (!row.minPage || found.pageBytes < row.minPage)
    row.minPage = found.pageBytes;
  if (found.pageBytes > row.maxPage)
    row.maxPage = found.pageBytes;
}

static void padTo(LineBuffer &line, size_t column) {
  while (line.length() < column)
    line.add(" ");
}

/// "     16 MiB   25.0 %". Rounded down: 100.0 % is all of it.
static void addShare(LineBuffer &line, size_t bytes, size_t all) {
  padTo(line, 22);
  LineBuffer amount, share;
  amount.addBytes(bytes);
  padTo(line,
        line.length() + 10 - (amount.length() < 10 ? amount.length() : 10));
  line.add(amount.text());
  size_t tenths = bytes * 1000 / all; // mapped memory: that is below 2^57
  share.addAll(tenths / 10, ".", tenths % 10);
  padTo(line, line.length() + 8 - share.length());
  line.addAll(share.text(), " %");
}

static void printRow(const char *what, int node, const Row &row, size_t all) {
  LineBuffer line("mpg:   ", what);
  if (node >= 0)
    line.addNumber(uint64_t(node));
  addShare(line, row.bytes, all);
  if (row.minPage) {
    line.addAll("  pages of ", Bytes(row.minPage));
    if (row.maxPage != row.minPage)
      line.addAll(" to ", Bytes(row.maxPage));
  }
  line.print();
}

static void printTable(const Table &table, size_t all) {
  NodeSet allowed = allowedNodes();
  size_t present = 0;
  for (int node = 0; node < Table::maxNodes; ++node) {
    const Row &row = table.rows[node];
    present += row.bytes;
    if (row.bytes || allowed.has(node))
      printRow("node ", node, row, all);
  }
  const Row &further = table.rows[Table::maxNodes];
  if (further.bytes)
    printRow("other nodes", -1, further, all);
  present += further.bytes;
  if (present < all)
    printRow("not present", -1, {all - present, 0, 0}, all);
}

void mpg_print_where(const void *memory, size_t bytes, const char *name) {
  int before = errno;
  Table table;
  memset(&table, 0, sizeof(table));
  int error = 0;
  if (bytes)
    error = findPages(getRange(memory, bytes),
                      [&](const Found &found) { addToTable(table, found); });
  constexpr size_t longestName = 100;
  LineBuffer line("mpg: ");
  if (name)
    line.add(name, strnlen(name, longestName)).add(": ");
  line.addAll(Bytes(bytes), " at ", Hex(reinterpret_cast<uintptr_t>(memory)));
  if (error == EFAULT)
    line.add(": a part of it is not mapped");
  else if (error)
    line.add(": the system does not report its nodes");
  line.print();
  if (bytes && !error)
    printTable(table, bytes);
  errno = before;
}

// mpg_move (<mpg/mpg.h>): memory that is there already, to another NUMA node.
//
// The kernel moves, page by page (move_pages): it knows which frames a device
// holds, and a large page is one page to it. For a frame of 2 MiB, first ask
// for its first page that is elsewhere. If that was a large page, all of it has
// moved; otherwise ask for the remaining pages one by one. Not mbind with
// MPOL_MF_MOVE: that leaves a policy behind, and a mapping cut in pieces.
//
// Next touch relies on the kernel's NUMA balancing alone. Pages without access
// and a handler of SIGSEGV would find the touch at once, but a system call on
// such memory fails with EFAULT, and the program with it.
//
// Moved bytes are counted, not taken from the kernel's return values.

namespace {

constexpr size_t batchPages = maxPagesMoved; ///< arrays on the stack

struct Order {
  int node;
  int reason = 0; ///< the last one of pages that stay; 0: none yet
  bool isFull = false;
};

/// Bytes on a node, and on others.
struct Counts {
  uint64_t there = 0, elsewhere = 0;
};

} // namespace

static int countBytes(Range asked, int node, Counts &counts) {
  return findPages(asked, [&](const Found &found) {
    (found.node == node ? counts.there : counts.elsewhere) += found.bytes;
  });
}

/// Moves \p pages; one that cannot be moved stops the kernel, so the rest is
/// tried in halves.
static void move(const uintptr_t *pages, size_t count, Order &order) {
  int states[batchPages];
  for (int &state : states)
    state = order.node;
  int error = count ? movePages(pages, count, order.node, states) : 0;
  for (size_t i = 0; i < count; ++i)
    if (states[i] < 0 && states[i] != -ENOENT && states[i] != -EFAULT)
      order.reason = -states[i];
  if (error > 0) {
    order.reason = error;
    order.isFull = error == ENOMEM;
    return;
  }
  if (!error)
    return;
  if (count == 1) {
    order.reason = EBUSY;
    return;
  }
  move(pages, count / 2, order);
  if (!order.isFull)
    move(pages + count / 2, count - count / 2, order);
}

/// Fills \p found with those pages of \p range that lie elsewhere, \p max at
/// most. Returns how many.
static size_t findElsewhere(Range range, size_t pageBytes, const Order &order,
                            uintptr_t *found, size_t max) {
  size_t count = 0;
  int error = visitPages(range, pageBytes, [&](uintptr_t page, int node) {
    if (node != order.node)
      found[count++] = page;
    return count < max;
  });
  return error ? 0 : count;
}

/// The part of \p range in the frame, or in the batch of pages, at its start.
static Range firstPiece(Range range, size_t pageBytes) {
  uintptr_t end = range.start + batchPages * pageBytes;
  if (pageBytes < hugeFrameBytes && batchPages * pageBytes >= hugeFrameBytes)
    end = roundDown(range.start, hugeFrameBytes) + hugeFrameBytes;
  return {range.start, end < range.end ? end : range.end};
}

/// One page of each frame, as many as one call takes; see the file head.
/// Returns where it stopped.
static uintptr_t moveHugeFrames(Range range, size_t pageBytes, Order &order) {
  uintptr_t leads[batchPages];
  size_t count = 0;
  while (!range.empty() && count < batchPages) {
    Range piece = firstPiece(range, pageBytes);
    count += findElsewhere(piece, pageBytes, order, leads + count, 1);
    range.start = piece.end;
  }
  move(leads, count, order);
  return range.start;
}

static void moveRest(Range range, size_t pageBytes, Order &order) {
  uintptr_t pages[batchPages];
  while (!range.empty() && !order.isFull) {
    Range piece = firstPiece(range, pageBytes);
    size_t count = findElsewhere(piece, pageBytes, order, pages, batchPages);
    move(pages, count, order);
    range.start = piece.end;
  }
}

static void moveNow(Range asked, Order &order) {
  Extents extents(asked);
  Extent extent;
  while (!order.isFull && extents.next(extent)) {
    Range left = roundToPages(extent);
    while (!left.empty() && !order.isFull) {
      uintptr_t end = left.end;
      if (extent.pageBytes < hugeFrameBytes)
        end = moveHugeFrames(left, extent.pageBytes, order);
      if (!order.isFull)
        moveRest({left.start, end}, extent.pageBytes, order);
      left.start = end;
    }
  }
}

static int moveTo(Range asked, mpg_moved &out) {
  Order order{out.node};
  Counts before, after;
  if (!allowedNodes().has(out.node))
    return -EINVAL;
  if (int error = countBytes(asked, out.node, before))
    return -error;
  if (before.elsewhere)
    moveNow(asked, order);
  if (order.reason == EPERM || order.reason == ENOSYS)
    return -order.reason;
  if (int error = countBytes(asked, out.node, after))
    return -error; // unmapped by another thread
  out.thereBytes = before.there < after.there ? before.there : after.there;
  out.movedBytes = after.there - out.thereBytes;
  out.leftBytes = after.elsewhere;
  out.absentBytes = asked.bytes() - after.there - after.elsewhere;
  if (after.elsewhere)
    out.reason = order.reason ? order.reason : EBUSY;
  return 0;
}

/// Pages that the balancing has marked are not present to the kernel. So bytes
/// are counted by mapping here.
static int moveAtTouch(Range asked, mpg_moved &out) {
  bool isOneNode = allowedNodes().count() < 2;
  uintptr_t known = asked.start;
  Extents extents(asked);
  Extent extent;
  while (extents.next(extent) && extent.range.start <= known) {
    int error = 0;
    if (!isOneNode)
      error = extent.pageBytes == basePageBytes()
                  ? leaveToBalancing(roundToPages(extent))
                  : ENOTSUP;
    uint64_t &sum = isOneNode ? out.thereBytes
                    : error   ? out.leftBytes
                              : out.laterBytes;
    sum += extent.range.bytes();
    if (error)
      out.reason = error;
    known = extent.range.end;
  }
  return known < asked.end ? -EFAULT : 0;
}

int mpg_move(void *p, size_t bytes, int node, mpg_moved *out) {
  auto start = reinterpret_cast<uintptr_t>(p);
  Range asked{start, start + bytes};
  bool isByTouch = node == MPG_NEXT_TOUCH;
  mpg_moved moved = {};
  moved.node = isByTouch ? -1 : node == MPG_NODE_HERE ? nodeHere() : node;
  int error = 0;
  if (asked.end < asked.start)
    error = -EFAULT;
  else if (isByTouch && allowedNodes().count() > 1 && !balancesNodes())
    error = -ENOTSUP;
  else if (bytes)
    error = isByTouch ? moveAtTouch(asked, moved) : moveTo(asked, moved);
  if (out)
    *out = error ? mpg_moved{} : moved;
  return error;
}
