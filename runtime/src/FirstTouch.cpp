// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory lands on the node of the thread that touches it first. A loop that
// initialises an array serially puts all of it on one node; this pages it in
// before, each part by the thread that will work on it.
//
// The threads are those of the program's own OpenMP runtime if it has one
// (GOMP_parallel is in libgomp and in libomp), because only they stand where
// the loop will run. Without OpenMP the calling thread goes from CPU to CPU
// and pages in what would be each one's part: threads of our own would leave
// the C library in its slower ways for several threads for good.
//
// A page belongs to the thread that works on its first byte, whatever size the
// pages there have; so no two threads race for one, and the outcome is the same
// in every run.

#include "FirstTouch.h"
#include "OpenMp.h"
#include "Pages.h"
#include "PagesNuma.h"
#include "SharedLoop.h"
#include "mpg/pass.h"
#include <errno.h>
#include <sched.h>

using namespace mpg;

/// A team of more threads is a mistake of the caller, and OpenMP runtimes end
/// the program when they cannot make it.
static constexpr uint32_t maxThreads = 1 << 14;

static Messages *messages = nullptr;
static bool prepages = false;

void mpg::startFirstTouch(const Config &config, Messages &to) {
  messages = &to;
  prepages = config.bssPaging == Paging::prepage ||
             config.mmapPaging == Paging::prepage;
}

namespace {

struct Job {
  uintptr_t start; ///< of the array
  Range pages;     ///< base pages with a byte of it
  size_t pageBytes;
  uint64_t step;
  SharedLoop loop;
};

} // namespace

/// The pages that begin in one part of the array; the first part has the page
/// in which the array begins, too.
static Range pagesOf(const Job &job, uint64_t first, uint64_t behind) {
  Range pages = job.pages;
  if (first != 0)
    pages.start = roundUp(job.start + first * job.step, job.pageBytes);
  if (behind != job.loop.iterations) {
    uintptr_t end = roundUp(job.start + behind * job.step, job.pageBytes);
    if (end < pages.end)
      pages.end = end;
  }
  return pages;
}

/// For chunks of less than a page: looks at pages, which are fewer.
static void touchPagesOf(const Job &job, uint32_t thread) {
  Range run;
  for (uintptr_t at = job.pages.start; at < job.pages.end;) {
    uint64_t iteration = at > job.start ? (at - job.start) / job.step : 0;
    uintptr_t next = roundDown(at, job.pageBytes) + job.pageBytes;
    if (next > job.pages.end || next < at)
      next = job.pages.end;
    if (ownerOf(job.loop, iteration) == thread) {
      if (run.end != at) {
        pageInHere(run, job.pageBytes);
        run.start = at;
      }
      run.end = next;
    }
    at = next;
  }
  pageInHere(run, job.pageBytes);
}

static void touchParts(const Job &job, uint32_t thread) {
  if (job.loop.sched == 1 && job.loop.chunk < job.pageBytes / job.step) {
    touchPagesOf(job, thread);
    return;
  }
  uint64_t first, behind;
  for (uint64_t turn = 0; partOf(job.loop, thread, turn, first, behind); ++turn)
    pageInHere(pagesOf(job, first, behind), job.pageBytes);
}

/// In each thread of the team. If the team is smaller than asked for, the loop
/// will be shared out by the smaller number too.
static void touchInTeam(void *data) {
  Job job = *static_cast<const Job *>(data);
  job.loop.threads = uint32_t(omp_get_num_threads());
  touchParts(job, uint32_t(omp_get_thread_num()));
}

static uint32_t usableCpus(cpu_set_t &cpus) {
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) {
    CPU_ZERO(&cpus);
    return 1;
  }
  return uint32_t(CPU_COUNT(&cpus));
}

/// Thread t of n stands for the CPU that is t / n of the way through those that
/// may be used.
static void touchFromEachCpu(Job job) {
  cpu_set_t before;
  uint32_t cpuCount = usableCpus(before), seen = 0, thread = 0;
  uint32_t &threads = job.loop.threads;
  if (threads == 0)
    threads = cpuCount;
  for (int cpu = 0; cpu < CPU_SETSIZE && thread < threads; ++cpu) {
    if (!CPU_ISSET(cpu, &before))
      continue;
    ++seen;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (; thread < threads &&
           uint64_t(thread) * cpuCount < uint64_t(seen) * threads;
         ++thread)
      touchParts(job, thread);
  }
  if (seen)
    sched_setaffinity(0, sizeof(before), &before);
  for (; thread < threads; ++thread)
    touchParts(job, thread);
}

/// With prepaging the memory has its place before the program can say where.
/// Memory that is used a second time is present as well, but then it lies
/// where it was touched, and that is not one node.
static void warnIfPrepaged(const Job &job) {
  if (!prepages || !messages || job.pageBytes <= basePageBytes() ||
      allowedNodes().count() < 2)
    return;
  const uintptr_t samples[] = {
      job.pages.start, job.pages.start + job.pages.bytes() / 4,
      job.pages.start + job.pages.bytes() / 2, job.pages.end - 1};
  int nodes[4];
  for (int i = 0; i < 4; ++i)
    if (nodesOf(samples[i], 1, basePageBytes(), &nodes[i]) != 0 ||
        nodes[i] < 0 || nodes[i] != nodes[0])
      return;
  LineBuffer line;
  line.add("first touch comes too late for ").addBytes(job.pages.bytes());
  line.add(" at ").addHex(job.pages.start);
  line.add(": the pages are present already, on NUMA node ");
  line.addNumber(uint64_t(nodes[0]));
  line.add("; cost: all threads share the memory of one node; fix: "
           "XOS_MMM_L_PAGING_POLICY=demand:demand:demand");
  messages->say(MPG_MSG_FIRST_TOUCH, line);
}

static bool hasOpenMp() {
  return GOMP_parallel && omp_get_num_threads && omp_get_thread_num;
}

void mpg_first_touch(void *p, uint64_t bytes, uint32_t sched, uint64_t step,
                     uint64_t chunk, uint32_t threads) {
  uintptr_t start = reinterpret_cast<uintptr_t>(p);
  bool isChunk = sched == 1;
  if (!p || bytes == 0 || step == 0 || sched > 1 || (isChunk && chunk == 0) ||
      threads > maxThreads || start + bytes < start)
    return;
  // Inside of a parallel region every thread is already where it will work.
  if (omp_in_parallel && omp_in_parallel())
    return;
  int before = errno;
  size_t baseBytes = basePageBytes();
  Range pages{roundDown(start, baseBytes), roundUp(start + bytes, baseBytes)};
  if (size_t pageBytes = writablePageBytes(pages)) {
    uint64_t iterations = bytes / step + (bytes % step != 0);
    Job job{start, pages, pageBytes, step, {iterations, sched, chunk, threads}};
    warnIfPrepaged(job);
    if (hasOpenMp())
      GOMP_parallel(touchInTeam, &job, threads, 0);
    else
      touchFromEachCpu(job);
  }
  errno = before;
}
