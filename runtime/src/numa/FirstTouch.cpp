// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory lands on the node of the thread that touches it first. A loop that
// initialises an array serially puts all of it on one node. Before it runs,
// this file places each part: it pages the part in on the node of the thread
// that will work on it or, with MPG_FIRST_TOUCH=mbind, sets the kernel's policy
// and leaves the paging to the loop.
//
// mbind commits no memory, so it suits arrays that are never filled. But its
// policy stays with the addresses until they are unmapped, whatever uses them
// next, and each part is a separate mapping, of which a process may have
// 65,530. So touching is the default. The end of this file handles .bss at the
// start.

#include "mpg/pass.h"
#include "numa/NodeCpus.h"
#include "numa/Numa.h"
#include "numa/Places.h"
#include "numa/SharedArray.h"
#include "pages/Pages.h"
#include "pages/PagesNuma.h"
#include "segments/Segments.h"
#include <errno.h>
#include <sched.h>
#include <unistd.h>

using namespace mpg;

/// A team of more threads is a mistake of the caller, and OpenMP runtimes end
/// the program when they cannot make it.
static constexpr uint32_t maxThreads = 1 << 14;

/// Two large pages, the minimum that can be on two nodes. Less fits into the L2
/// cache of one group anyway (HW:a64fx-l2-way), and starting a team would cost
/// more than it gains.
static constexpr uint64_t minSharedBytes = 4 << 20;

/// Threads whose nodes fit on a small stack.
static constexpr uint32_t maxNodeThreads = 2048;

/// Mappings that mbind may make of one array: sixty such arrays fit in a
/// process.
static constexpr unsigned maxRuns = 1024;

namespace {

struct Known {
  const Config *config = nullptr;
  Range heap;
  Messages *messages = nullptr;
};

} // namespace

static Known known;

void mpg::startFirstTouch(const Config &config, Range heap,
                          Messages &messages) {
  known = {&config, heap, &messages};
}

// The team. The threads are those of the program's OpenMP runtime if it has one
// (GOMP_parallel is in libgomp and in libomp), because only they are placed
// where the loop will run. Without OpenMP the calling thread visits the CPUs
// itself: creating threads would switch the C library to its slower
// multi-threaded paths for good.

namespace {

/// The work of each thread of a team; derive from it to add data.
struct TeamWork {
  /// For thread \p thread of \p threads, where it stands. With OpenMP all of
  /// them at once.
  void (*body)(const TeamWork &work, uint32_t thread, uint32_t threads);
};

} // namespace

static void workInTeam(void *data) {
  const auto &work = *static_cast<const TeamWork *>(data);
  work.body(work, uint32_t(omp_get_thread_num()),
            uint32_t(omp_get_num_threads()));
}

/// Does the work thread by thread, then returns to all CPUs that it may use.
static bool visit(const TeamWork &work, uint32_t threads,
                  const cpu_set_t &usable, PlaceList &list) {
  PlaceWishes wishes = readPlaceWishes(environ);
  makePlaces(wishes, usable, readNeighbors, list);
  if (threads == 0)
    threads = defaultThreads(wishes, usable);
  int here = -1;
  bool hasGone = true;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    int cpu = cpuOfThread(list, thread, threads);
    if (cpu != here)
      hasGone &= goToCpu(cpu);
    here = cpu;
    work.body(work, thread, threads);
  }
  sched_setaffinity(0, sizeof(usable), &usable);
  return hasGone;
}

/// The calling thread visits the CPUs that OMP_PLACES and related variables
/// would give the threads, else all CPUs, and returns. False if it could not
/// move: the work is done all the same, from where it was.
static bool visitPlaces(const TeamWork &work, uint32_t threads) {
  cpu_set_t usable;
  Staged staged;
  size_t bytes = roundUp(sizeof(PlaceList), basePageBytes());
  if (sched_getaffinity(0, sizeof(usable), &usable) == 0 &&
      buildStaged(Source::normal, bytes, basePageBytes(), nullptr, staged) ==
          0) {
    bool hasGone = visit(work, threads, usable,
                         *reinterpret_cast<PlaceList *>(staged.range.start));
    discard(staged);
    return hasGone;
  }
  // More CPUs than a set has, or no memory: everything from here.
  work.body(work, 0, 1);
  return false;
}

/// By the threads of the program's OpenMP runtime if it has one, else as
/// visitPlaces(). \p threads 0: as many as the team usually has. OpenMP may
/// give fewer, and the next loop will be shared out by the smaller number too.
static void doAsTeam(const TeamWork &work, uint32_t threads) {
  if (GOMP_parallel && omp_get_num_threads && omp_get_thread_num)
    GOMP_parallel(workInTeam, const_cast<TeamWork *>(&work), threads, 0);
  else
    visitPlaces(work, threads);
}

/// Whether the caller is in a parallel region.
static bool isInTeam() { return omp_in_parallel && omp_in_parallel(); }

// Facts that libmpg has about the memory

static bool isInProgram(uintptr_t address) {
  Segment segments[64];
  size_t count = findSegments(known.config->remapLibraries,
                              known.config->hugeBytes, segments, 64);
  for (size_t i = 0; i < count; ++i)
    if (segments[i].range.contains(address))
      return true;
  return false;
}

/// The size of pages that come as a whole. libmpg's memory outside of the pool
/// is on transparent large pages; those of a system with base pages of 64 KiB
/// are larger than any part (HW:huge-sizes-64k). For other memory the size is
/// unknown: the first thread gets a page that crosses a border.
static size_t wholeBytes(uintptr_t address, size_t pageBytes) {
  if (pageBytes > basePageBytes() || !known.config)
    return pageBytes;
  Mode mode = known.config->mode;
  bool isTransparent = (mode == Mode::thp || mode == Mode::automatic) &&
                       thpIsAllowed() &&
                       (known.heap.contains(address) || isInProgram(address));
  return isTransparent ? hugeFrameBytes : pageBytes;
}

// By touching

namespace {

struct Touch : TeamWork {
  SharedArray array;
  size_t pageBytes; ///< of pages that come one by one
};

} // namespace

static void touchParts(const TeamWork &work, uint32_t thread,
                       uint32_t threads) {
  const auto &touch = static_cast<const Touch &>(work);
  SharedArray array = touch.array;
  array.loop.threads = threads;
  if (isFine(array)) {
    OwnedRuns runs(array);
    Range run;
    int owner;
    while (runs.next(run, owner))
      if (uint32_t(owner) == thread)
        pageInHere(run, touch.pageBytes);
    return;
  }
  uint64_t first, end;
  for (uint64_t turn = 0; getPart(array.loop, thread, turn, first, end); ++turn)
    pageInHere(getPages(array, first, end), touch.pageBytes);
}

static void touch(const SharedArray &array, size_t pageBytes) {
  Touch work{{touchParts}, array, pageBytes};
  doAsTeam(work, array.loop.threads);
}

// By mbind

namespace {

/// Where the threads stand. Each of them writes its own entry.
struct Nodes {
  uint32_t threads = 1;
  int16_t ofThread[maxNodeThreads];
};

struct NodeQuery : TeamWork {
  Nodes *nodes;
};

} // namespace

static void queryNode(const TeamWork &work, uint32_t thread, uint32_t threads) {
  Nodes &nodes = *static_cast<const NodeQuery &>(work).nodes;
  if (thread < maxNodeThreads)
    nodes.ofThread[thread] = int16_t(nodeHere());
  if (thread == 0)
    nodes.threads = threads;
}

static bool isTooFine(const SharedArray &array, const Nodes &nodes) {
  OwnedRuns runs(array, nodes.ofThread);
  Range run;
  int node;
  for (unsigned count = 0; runs.next(run, node); ++count)
    if (count == maxRuns)
      return true;
  return false;
}

/// Returns an errno value. Skips a node that gives this process no memory,
/// because touching there would take memory elsewhere; EINVAL if all nodes are
/// skipped.
static int placeRuns(const SharedArray &array, const Nodes &nodes) {
  OwnedRuns runs(array, nodes.ofThread);
  Range run;
  int node, result = EINVAL;
  while (runs.next(run, node)) {
    int error = place(run, Placement::prefer, NodeSet::of(node));
    if (error && error != EINVAL)
      return error;
    if (!error)
      result = 0;
  }
  return result;
}

static void reportRefused(int error) {
  if (!known.messages)
    return;
  LineBuffer line("MPG_FIRST_TOUCH=mbind: ");
  if (error == EINVAL)
    line.add("this process gets no memory of the nodes that its threads run "
             "on; cost: arrays are paged in at once, on other nodes; fix: "
             "allow these nodes (numactl, cpuset)");
  else
    line.addAll(
        "the system refuses mbind (errno ", uint64_t(error),
        "); cost: arrays are touched instead, which takes all their "
        "memory at once; fix: allow mbind in the container, or leave the "
        "variable out");
  known.messages->report(MPG_MSG_FIRST_TOUCH, line);
}

/// False if it has to be done by touching.
static bool placeByMbind(SharedArray array) {
  Nodes nodes;
  if (array.loop.threads > maxNodeThreads)
    return false;
  NodeQuery work{{queryNode}, &nodes};
  doAsTeam(work, array.loop.threads);
  array.loop.threads = nodes.threads;
  if (nodes.threads > maxNodeThreads || isTooFine(array, nodes))
    return false;
  int error = placeRuns(array, nodes);
  if (error == ENOMEM) // the process has too many mappings
    return false;
  if (error)
    reportRefused(error);
  return !error;
}

// Settings that defeat it

/// Whether libmpg has made the large pages at \p address present.
static bool isPrepaged(uintptr_t address) {
  const Config &config = *known.config;
  if (known.heap.contains(address))
    return config.mmapPaging == Paging::prepage;
  return config.bssPaging == Paging::prepage && isInProgram(address);
}

/// With prepaging the memory has its place before the program can say where.
/// Memory that is used a second time is present as well, but then it lies
/// where it was touched, and that is not one node. Base pages are never
/// prepaged.
static void warnIfPrepaged(const SharedArray &array) {
  if (!known.config || array.pageBytes == basePageBytes() ||
      !isPrepaged(array.start) || allowedNodes().count() < 2)
    return;
  int nodes[4]; // not at the edges, which may be on other pages
  for (int i = 0; i < 4; ++i) {
    uintptr_t sample =
        roundDown(array.pages.start + array.pages.bytes() / 8 * (2 * i + 1),
                  basePageBytes());
    if (getNodes(&sample, 1, &nodes[i]) || nodes[i] < 0 || nodes[i] != nodes[0])
      return;
  }
  LineBuffer line("first touch comes too late for ", Bytes(array.pages.bytes()),
                  " at ", Hex(array.start));
  line.add(": the pages are present already, on NUMA node ");
  line.addNumber(uint64_t(nodes[0]));
  line.addAll("; cost: all threads share the memory of one node; fix: ",
              known.config->bssInParts && isInProgram(array.start)
                  ? "MPG_FIRST_TOUCH=touch"
                  : "XOS_MMM_L_PAGING_POLICY=demand:demand:demand");
  known.messages->report(MPG_MSG_FIRST_TOUCH, line);
}

// The call

/// Inside of a parallel region every thread is already where it will work.
static void decidePlaces(Range bytes, uint64_t step, const SharedLoop &loop) {
  TouchMode mode = readTouchMode(environ);
  if (mode == TouchMode::off || isInTeam())
    return;
  Range mapped = bytes;
  size_t pageBytes = writablePages(mapped);
  if (pageBytes == 0)
    return;
  size_t unitBytes = wholeBytes(bytes.start, pageBytes);
  SharedArray array = SharedArray::of(bytes, mapped, unitBytes, step, loop);
  if (array.pages.empty())
    return;
  warnIfPrepaged(array);
  if (mode != TouchMode::mbind || !placeByMbind(array))
    touch(array, pageBytes);
}

void mpg_first_touch(void *p, uint64_t bytes, uint32_t sched, uint64_t step,
                     uint64_t chunk, uint32_t threads) {
  uintptr_t start = reinterpret_cast<uintptr_t>(p);
  if (!p || bytes < minSharedBytes || step == 0 || sched > 1 ||
      (sched == 1 && chunk == 0) || threads > maxThreads ||
      start + bytes < start)
    return;
  int before = errno;
  decidePlaces({start, start + bytes}, step, {0, sched, chunk, threads});
  errno = before;
}

// MPG_FIRST_TOUCH=start: pages .bss in before main, on all nodes, as if one
// parallel loop initialised all of it. Each part goes to the node of the CPU
// that the starting thread has moved to, by the kernel's own rules: if that
// node has no page, the next one provides it, and nothing fails.

namespace {

/// Pages that came from another node.
struct Strays {
  uint64_t bytes = 0;
  int node = -1; ///< where the first of them was meant to be
};

struct StartTouch : TeamWork {
  SharedArray array;
  Strays *strays;
};

} // namespace

/// Bytes on nodes other than \p here; 0 if the system does not report it.
static uint64_t bytesElsewhere(Range pages, size_t pageBytes, int here) {
  uint64_t bytes = 0;
  int error = visitPages(pages, pageBytes, [&](uintptr_t, int node) {
    bytes += node != here ? pageBytes : 0;
    return true;
  });
  return error ? 0 : bytes;
}

static void touchPart(const TeamWork &work, uint32_t thread, uint32_t threads) {
  const auto &touch = static_cast<const StartTouch &>(work);
  SharedArray array = touch.array;
  array.loop.threads = threads;
  uint64_t first, end;
  if (!getPart(array.loop, thread, 0, first, end))
    return;
  Range part = getPages(array, first, end);
  // Pages that were written before, and copied, were not missing.
  int here = nodeHere();
  uint64_t before = bytesElsewhere(part, array.pageBytes, here);
  pageInHere(part, array.pageBytes);
  uint64_t strays = bytesElsewhere(part, array.pageBytes, here) - before;
  if (strays && !touch.strays->bytes)
    touch.strays->node = here;
  touch.strays->bytes += strays;
}

static void reportNoEffect(const char *reason, Messages &messages) {
  messages.report(MPG_MSG_FIRST_TOUCH,
                  "MPG_FIRST_TOUCH=start has no effect on .bss: ", reason);
}

static void reportStrays(const Strays &strays, Range bss, size_t pageBytes,
                         Messages &messages) {
  messages.report(
      MPG_MSG_FIRST_TOUCH, "MPG_FIRST_TOUCH=start: ", Bytes(strays.bytes),
      " of ", Bytes(bss.bytes()),
      " of .bss are on other NUMA nodes than the threads that may use "
      "them, the first of those for node ",
      uint64_t(strays.node),
      ": it has too few free pages; cost: slower access; fix: more pages "
      "in /sys/devices/system/node/node",
      uint64_t(strays.node), "/hugepages/hugepages-", pageBytes >> 10,
      "kB/nr_hugepages");
}

void mpg::touchAtStart(Range bss, const Config &config, Messages &messages) {
  size_t pageBytes = config.hugeBytes;
  if (!config.bssInParts) {
    if (bss.bytes() >= minSharedBytes)
      reportNoEffect(config.againstParts, messages);
    return;
  }
  if (bss.bytes() < minSharedBytes)
    return pageInHere(bss, pageBytes);
  Strays strays;
  SharedArray array = SharedArray::of(bss, bss, pageBytes, pageBytes, {});
  StartTouch work{{touchPart}, array, &strays};
  if (!visitPlaces(work, 0))
    reportNoEffect("the system does not let this thread go to other CPUs "
                   "(sched_setaffinity)",
                   messages);
  else if (strays.bytes)
    reportStrays(strays, bss, pageBytes, messages);
}
