// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG_FIRST_TOUCH=start: .bss is paged in before main, on all nodes, as if one
// parallel loop initialised all of it. Each part comes to the node of the CPU
// that the starting thread has gone to, by the kernel's own rules: where that
// node has no page the next one gives it, and nothing fails.

#include "numa/Numa.h"
#include "numa/SharedArray.h"
#include "numa/Team.h"
#include "pages/PagesNuma.h"

using namespace mpg;

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

/// On other nodes than \p here; 0 where the system does not tell.
static uint64_t bytesElsewhere(Range pages, size_t pageBytes, int here) {
  constexpr size_t batch = 64;
  int nodes[batch];
  uint64_t bytes = 0;
  while (!pages.empty()) {
    size_t count = pages.bytes() / pageBytes;
    count = count < batch ? count : batch;
    if (nodesOf(pages.start, count, pageBytes, nodes) != 0)
      return 0;
    pages.start += count * pageBytes;
    for (size_t i = 0; i < count; ++i)
      bytes += nodes[i] >= 0 && nodes[i] != here ? pageBytes : 0;
  }
  return bytes;
}

static void touchPart(const TeamWork &work, uint32_t thread, uint32_t threads) {
  const auto &touch = static_cast<const StartTouch &>(work);
  SharedArray array = touch.array;
  array.loop.threads = threads;
  uint64_t first, end;
  if (!partOf(array.loop, thread, 0, first, end))
    return;
  Range part = pagesOf(array, first, end);
  // What was written to before, and was copied, is no page that was missing.
  int here = nodeHere();
  uint64_t before = bytesElsewhere(part, array.pageBytes, here);
  pageInHere(part, array.pageBytes);
  uint64_t strays = bytesElsewhere(part, array.pageBytes, here) - before;
  if (strays && !touch.strays->bytes)
    touch.strays->node = here;
  touch.strays->bytes += strays;
}

static void sayNoEffect(const char *reason, Messages &messages) {
  LineBuffer line;
  line.add("MPG_FIRST_TOUCH=start has no effect on .bss: ").add(reason);
  messages.say(MPG_MSG_FIRST_TOUCH, line);
}

static void sayStrays(const Strays &strays, Range bss, size_t pageBytes,
                      Messages &messages) {
  LineBuffer line;
  line.add("MPG_FIRST_TOUCH=start: ")
      .addBytes(strays.bytes)
      .add(" of ")
      .addBytes(bss.bytes())
      .add(" of .bss lie on other NUMA nodes than the threads that may use "
           "them, the first of those for node ")
      .addNumber(uint64_t(strays.node))
      .add(": it has too few free pages; cost: slower access; fix: more pages "
           "in /sys/devices/system/node/node")
      .addNumber(uint64_t(strays.node))
      .add("/hugepages/hugepages-")
      .addNumber(pageBytes >> 10)
      .add("kB/nr_hugepages");
  messages.say(MPG_MSG_FIRST_TOUCH, line);
}

void mpg::touchAtStart(Range bss, const Config &config, Messages &messages) {
  size_t pageBytes = config.hugeBytes;
  if (!config.bssInParts) {
    if (bss.bytes() >= leastSharedBytes)
      sayNoEffect(config.againstParts, messages);
    return;
  }
  if (bss.bytes() < leastSharedBytes)
    return pageInHere(bss, pageBytes);
  Strays strays;
  SharedArray array = SharedArray::of(bss, bss, pageBytes, pageBytes, {});
  StartTouch work{{touchPart}, array, &strays};
  if (!visitPlaces(work, 0))
    sayNoEffect("the system does not let this thread go to other CPUs "
                "(sched_setaffinity)",
                messages);
  else if (strays.bytes)
    sayStrays(strays, bss, pageBytes, messages);
}
