// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for measurements, on pages of a given kind, with the proof of what the
// kernel really gave; and threads that are bound to a CPU each.

#pragma once

#include "Node/Node.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mpg {

// Kinds of pages

/// "4K", "2M", "1G": a size as parameters of points give it, and parseBytes
/// reads it. The largest unit that leaves a whole number.
std::string sizeName(uint64_t bytes);

/// Kinds of pages as the parameter "pages" names them: "4K" (or "64K", the base
/// page of this kernel), "THP", "2M", "1G".
struct PageKind {
  std::string name;
  uint64_t pageBytes;
  bool isHugetlb, isTransparent;
};
/// The kinds of pages that this node has or could have, smallest first.
std::vector<PageKind> pageKinds(const Node &node);
/// The kind that parameters call \p name, as the kernel that runs now has it.
llvm::Expected<PageKind> findPageKind(llvm::StringRef name);

/// "128 pages of 2 MiB are needed, and 12 of 512 are free"; "" if the pool
/// holds enough for \p bytes.
std::string poolShortage(const PageFacts &pages, uint64_t pageBytes,
                         uint64_t bytes);

/// Why \p bytes on these pages cannot be had now: "12 of 512 pages of 2 MiB are
/// free; echo 512 > /proc/sys/vm/nr_hugepages"; "" if they can.
std::string whyNotNow(const Node &node, const PageKind &kind, uint64_t bytes);

/// Whether at least 9 of 10 bytes of \p backing lie on \p pages; else a text
/// for WorkerResult::error.
std::string checkBackingOn(llvm::StringRef pages, const Backing &backing);

// Memory

/// One mapping. Not copied.
class BenchMemory {
public:
  /// \p pages: the name of a kind, as above. See error().
  BenchMemory(size_t bytes, llvm::StringRef pages);
  ~BenchMemory();
  BenchMemory(const BenchMemory &) = delete;
  BenchMemory &operator=(const BenchMemory &) = delete;

  /// The reason for missing memory; "" if there is some.
  const std::string &error() const { return problem; }
  /// Aligned to 2 MiB at least. Not touched yet.
  template <typename T> T *as() const { return static_cast<T *>(start); }
  size_t bytes() const { return size; }
  /// Adds what lies under it now. pre: touched.
  void addBacking(Backing &backing) const;
  /// Whether at least 9 of 10 bytes that are present lie on such pages;
  /// else a text for WorkerResult::error.
  std::string checkBacking() const;

private:
  void *start = nullptr;
  size_t size = 0, mapped = 0;
  void *mapping = nullptr;
  std::string pages, problem;
};

/// Runs \p body on memory of a worker, with the pages that \p parameters name,
/// and adds its pages to \p result. Memory that is not available, or lies on
/// other pages, is an error of the result.
void measureOn(const Parameters &parameters, size_t bytes, WorkerResult &result,
               llvm::function_ref<void(const BenchMemory &)> body);

/// Adds the memory of [p, p + bytes), which may be malloc's.
void addRangeBacking(const void *p, size_t bytes, Backing &backing);

/// Why malloc of this process is not what a point asks for, \p wantsLibmpg or
/// the C library's; "" if it is.
std::string whyWrongHeap(bool wantsLibmpg);

/// The function of that name out of libmpg; null if it is not loaded. \p F is
/// its type: loadedFunction<decltype(mpg_replicate)>("mpg_replicate").
void *findLoaded(const char *name);
template <typename F> F *loadedFunction(const char *name) {
  return reinterpret_cast<F *>(findLoaded(name));
}

// Threads (BenchThreads.cpp)

/// Runs \p body(thread) on \p threads threads at once. Each is bound to a
/// different CPU out of those that this process may use (more threads than
/// CPUs: they share), the calling one among them. Returns the seconds from the
/// moment when all were ready to the end of the last one.
double runTogether(unsigned threads, llvm::function_ref<void(unsigned)> body);

/// Runs \p body once to warm up and then \p times times, and fills value with
/// the median of the seconds, counters and involuntarySwitches with those of
/// the measured part.
void measureRepeats(WorkerResult &result, unsigned times,
                    llvm::function_ref<double()> body);

} // namespace mpg
