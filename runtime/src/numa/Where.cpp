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

/// Bytes of the page at \p page that were asked for.
static size_t bytesInside(uintptr_t page, size_t pageBytes, Range asked) {
  uintptr_t end = page + pageBytes;
  uintptr_t from = page > asked.start ? page : asked.start;
  return (end < asked.end ? end : asked.end) - from;
}

namespace {

struct Listener {
  Range asked;
  void (*visit)(void *data, const Found &found);
  void *data;
};

} // namespace

/// Visits the pages of \p extent, which have one size. Returns an errno value.
static int findIn(const Extent &extent, const Listener &to) {
  constexpr size_t batch = 256;
  int nodes[batch];
  uintptr_t page = roundDown(extent.range.start, extent.pageBytes);
  while (page < extent.range.end) {
    size_t left =
        (extent.range.end - page + extent.pageBytes - 1) / extent.pageBytes;
    size_t now = left < batch ? left : batch;
    if (int error = getNodes(page, now, extent.pageBytes, nodes))
      return error;
    for (size_t i = 0; i < now; ++i, page += extent.pageBytes)
      if (nodes[i] >= 0)
        to.visit(to.data,
                 {nodes[i], bytesInside(page, extent.pageBytes, to.asked),
                  extent.pageBytes});
  }
  return 0;
}

int mpg::findPages(Range asked, void (*visit)(void *data, const Found &found),
                   void *data) {
  if (asked.end <= asked.start)
    return EFAULT;
  Listener to{asked, visit, data};
  uintptr_t known = asked.start;
  Extents extents(asked);
  Extent extent;
  while (extents.next(extent)) {
    if (extent.range.start > known)
      return EFAULT;
    if (int error = findIn(extent, to))
      return error;
    known = extent.range.end;
  }
  return known < asked.end ? EFAULT : 0;
}

// One node

namespace {

struct Home {
  size_t pageBytes;
  int node;
  size_t bytes;
};

} // namespace

static void addToHome(void *data, const Found &found) {
  auto *home = static_cast<Home *>(data);
  if (home->bytes == 0)
    home->node = found.node;
  if (found.node == home->node && found.pageBytes >= home->pageBytes)
    home->bytes += found.bytes;
}

int mpg::computeHome(Range range, size_t pageBytes) {
  Home home{pageBytes, -1, 0};
  if (findPages(range, addToHome, &home) || home.bytes != range.bytes())
    return -1;
  return home.node;
}

// All nodes

static Range getRange(const void *memory, size_t bytes) {
  auto start = reinterpret_cast<uintptr_t>(memory);
  return {start, start + bytes};
}

namespace {

struct Sums {
  size_t *out;
  int nodes;
  size_t present;
};

} // namespace

static void addToSums(void *data, const Found &found) {
  auto *sums = static_cast<Sums *>(data);
  sums->present += found.bytes;
  if (found.node < sums->nodes)
    sums->out[found.node] += found.bytes;
}

size_t mpg_where(const void *memory, size_t bytes, size_t *out, int nodes) {
  for (int node = 0; node < nodes; ++node)
    out[node] = 0;
  if (bytes == 0)
    return 0;
  Sums sums{out, nodes, 0};
  if (int error = findPages(getRange(memory, bytes), addToSums, &sums)) {
    errno = error;
    return size_t(-1);
  }
  return sums.present;
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

static void addToTable(void *data, const Found &found) {
  auto *table = static_cast<Table *>(data);
  int index = found.node < Table::maxNodes ? found.node : Table::maxNodes;
  Row &row = table->rows[index];
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
    error = findPages(getRange(memory, bytes), addToTable, &table);
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

struct Counts {
  int node;
  uint64_t there = 0, elsewhere = 0;
};

} // namespace

static void count(void *data, const Found &found) {
  auto *counts = static_cast<Counts *>(data);
  (found.node == counts->node ? counts->there : counts->elsewhere) +=
      found.bytes;
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
  size_t pages = 0;
  int nodes[batchPages];
  size_t count = range.bytes() / pageBytes;
  if (count > batchPages)
    count = batchPages;
  if (getNodes(range.start, count, pageBytes, nodes))
    return 0;
  for (size_t i = 0; i < count && pages < max; ++i)
    if (nodes[i] >= 0 && nodes[i] != order.node)
      found[pages++] = range.start + i * pageBytes;
  return pages;
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

/// Whole pages of \p extent.
static Range roundToPages(const Extent &extent) {
  return {roundDown(extent.range.start, extent.pageBytes),
          roundUp(extent.range.end, extent.pageBytes)};
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
  Counts before{out.node}, after{out.node};
  if (!allowedNodes().has(out.node))
    return -EINVAL;
  if (int error = findPages(asked, count, &before))
    return -error;
  if (before.elsewhere)
    moveNow(asked, order);
  if (order.reason == EPERM || order.reason == ENOSYS)
    return -order.reason;
  if (int error = findPages(asked, count, &after))
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
