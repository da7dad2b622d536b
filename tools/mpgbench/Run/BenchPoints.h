// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared part of several experiments' plans and workers: sizes that this
// node can give, parameters as numbers, and the division of work among threads.

#pragma once

#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/Experiment.h"

namespace mpg {

// Plans

/// 1, and all CPUs where they are more.
std::vector<unsigned> threadCounts(const PlanContext &context);

/// \p wantedBytes, or a half of it, a quarter and so on, so that a worker may
/// have it, and so that it fits into the free pages of 2 MiB, if a sixteenth of
/// it or more does: page sizes are compared on equal memory.
uint64_t sizeThatFits(const PlanContext &context, uint64_t wantedBytes);
inline uint64_t sizeThatFits(const PlanContext &context, uint64_t quickBytes,
                             uint64_t fullBytes) {
  return sizeThatFits(context, context.quick ? quickBytes : fullBytes);
}

/// The base page and one kind of large ones for \p bytes: 2M if enough are
/// free, else transparent ones; 2M, with its reason, where there are none.
std::vector<PageKind> baseAndLarge(const PlanContext &context, uint64_t bytes);

/// Bytes of a line of the caches. HW:a64fx-l1d-way, HW:x86-l1d-way
unsigned cacheLineBytes(const Node &node);

/// All values that the points of \p result have for a parameter, in order.
std::vector<std::string> getValues(const ExperimentResult &result,
                                   llvm::StringRef name);

/// "1 thread", "48 threads".
std::string countThreads(const std::string &threads);

/// The name of the base page: "4K".
std::string basePageName();

/// Compares each kind of large pages of \p result with the base page, among the
/// points that have \p others as well. Of unmeasured kinds it mentions only 2M.
/// \p what: "triad, 1 thread"; the page kinds are put after it.
void comparePages(ExperimentResult &result, const Parameters &others,
                  const std::string &what, double bar = 1.0);

// Workers

/// Parameters as numbers. One that is missing, no number, 0 or larger than
/// \p max sets \p error (unless that is set) and gives 0.
uint64_t readSize(const Parameters &parameters, llvm::StringRef name,
                  uint64_t max, std::string &error);
uint64_t readCount(const Parameters &parameters, llvm::StringRef name,
                   uint64_t max, std::string &error);

/// More threads than any machine has CPUs, or more bytes than any has memory,
/// are mistakes.
constexpr uint64_t maxThreads = 1 << 14, maxBytes = uint64_t(1) << 44;
inline unsigned readThreads(const Parameters &parameters, std::string &error) {
  return unsigned(readCount(parameters, "threads", maxThreads, error));
}

/// A part [begin, end) of [0, count).
struct Part {
  uint64_t begin, end;
  uint64_t count() const { return end - begin; }
};
/// The part of \p thread, out of \p threads equal ones; they meet at multiples
/// of \p step.
Part getPart(uint64_t count, uint64_t step, unsigned thread, unsigned threads);

} // namespace mpg
