// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ArenaWork.h.

#include "mpgbench/Experiments/ArenaWork.h"
#include "Measure/Clock.h"
#include "mpgbench/Run/BenchMemory.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

/// Blocks of one size, all there or none.
class Blocks {
public:
  Blocks(size_t count, size_t bytes) : bytes(bytes), blocks(count) {}
  ~Blocks() { release(); }
  Blocks(const Blocks &) = delete;
  Blocks &operator=(const Blocks &) = delete;

  /// False: malloc gave none for one of them.
  bool allocate() {
    for (char *&block : blocks)
      if (!(block = static_cast<char *>(malloc(bytes))))
        return false;
    return true;
  }
  /// Writes to each page.
  void touch() {
    auto page = size_t(sysconf(_SC_PAGESIZE));
    for (char *block : blocks)
      for (size_t at = 0; at < bytes; at += page)
        static_cast<volatile char *>(block)[at] = 1;
  }
  void release() {
    for (char *&block : blocks) {
      free(block);
      block = nullptr;
    }
  }
  /// pre: there are some, and all are there.
  void addBacking(Backing &backing) const {
    char *low = *std::min_element(blocks.begin(), blocks.end());
    char *high = *std::max_element(blocks.begin(), blocks.end());
    addBackingOf(low, size_t(high - low) + bytes, backing);
  }

private:
  size_t bytes;
  std::vector<char *> blocks;
};

} // namespace

static double timeOf(function_ref<void()> work) {
  double start = nowSeconds();
  work();
  return nowSeconds() - start;
}

static uint64_t involuntarySwitches() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? uint64_t(usage.ru_nivcsw) : 0;
}

static constexpr const char *noMemory = "malloc gives no memory for the blocks";

void mpg::measurePhases(WorkerResult &result, size_t last, size_t count) {
  Blocks blocks(count, cycleBlockBytes);
  Counters counters;
  for (size_t phase = 0; phase <= last; ++phase) {
    bool isThere = true;
    uint64_t switches = involuntarySwitches();
    counters.reset();
    double seconds = timeOf([&] {
      if (phase % 2 == 0)
        isThere = blocks.allocate();
      else
        blocks.release();
    });
    if (phase == last) {
      result.counters = counters.read();
      result.involuntarySwitches = involuntarySwitches() - switches;
      result.value = seconds * 1e6 / double(count);
    }
    if (!isThere) {
      result.error = noMemory;
      return;
    }
    if (phase % 2 == 0)
      result.figures["first_touch_us"] =
          timeOf([&] { blocks.touch(); }) * 1e6 / double(count);
  }
  // What lay under blocks that are gone: under others of the same size.
  if (last % 2 == 1) {
    if (!blocks.allocate())
      return;
    blocks.touch();
  }
  blocks.addBacking(result.backing);
}

void mpg::measureParallel(WorkerResult &result, unsigned threads,
                          size_t count) {
  std::vector<std::unique_ptr<Blocks>> blocks;
  for (unsigned thread = 0; thread < threads; ++thread)
    blocks.push_back(std::make_unique<Blocks>(count, parallelBlockBytes));
  std::vector<char> isThere(threads, 1);
  constexpr unsigned iterations = 10; // the guide's
  measureRepeats(result, iterations, [&] {
    return runTogether(threads, [&](unsigned thread) {
      isThere[thread] &= char(blocks[thread]->allocate());
      blocks[thread]->release();
    });
  });
  result.value *= 1e6 / double(count);
  if (!all_of(isThere, [](char one) { return one; }) ||
      !blocks[0]->allocate()) {
    result.error = noMemory;
    return;
  }
  blocks[0]->touch();
  blocks[0]->addBacking(result.backing);
}
