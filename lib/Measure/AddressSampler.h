// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Samples with an address: page faults of a program, by the kernel's software
// event, which needs no counter of the processor (a page faults when it is
// touched first, so this is also who touched it); the code that it runs, by the
// kernel's clock, each millisecond of user time; and accesses whose
// translation no TLB held, where the processor samples addresses (Intel's PEBS,
// AMD's IBS, Arm's SPE). The latter are written by the manuals and were never
// run: no such machine was at hand.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

struct perf_event_attr; // NOLINT(readability-identifier-naming): the kernel's

namespace mpg {

struct AddressSample {
  uint64_t timeNs; ///< of CLOCK_MONOTONIC
  uint64_t address;
  uint64_t events; ///< for so many it stands
  uint32_t thread; ///< 0: not known
};

class AddressSampler {
public:
  enum class Of { pageFaults, code, tlbMisses };
  explicit AddressSampler(Of what) : what(what) {}
  ~AddressSampler();
  AddressSampler(const AddressSampler &) = delete;
  AddressSampler &operator=(const AddressSampler &) = delete;

  /// Samples \p process and its threads from its next exec on.
  void start(pid_t process);
  /// Why there are none; empty: there are.
  const std::string &missing() const { return reason; }
  /// User code alone: kernel.perf_event_paranoid forbids the rest.
  bool isUserOnly() const { return userOnly; }

  /// Visits the samples since the last call, processor by processor, in order.
  /// Call it often: samples that find the ring full are lost.
  void drain(llvm::function_ref<void(const AddressSample &)> visit);
  uint64_t lost() const { return lostSamples; }
  /// All events until now, of children as well.
  uint64_t count() const;

private:
  /// The ring of a processor.
  struct Ring {
    int fd;
    void *memory;
    void *trace;                   ///< of SPE; null: none
    int fewFd = -1;                ///< of page faults: one in thirteen
    bool few = false;              ///< that one is on, and not the one of each
    uint64_t seen = 0, seenNs = 0; ///< events until then
  };
  bool open(int processor);
  bool openAll();
  bool openFew(Ring &ring, int processor, perf_event_attr attributes);
  void adapt(Ring &ring);
  void close();
  void drainRing(Ring &ring,
                 llvm::function_ref<void(const AddressSample &)> visit);
  void readTrace(Ring &ring,
                 llvm::function_ref<void(const AddressSample &)> visit) const;

  Of what;
  pid_t process = 0;
  bool userOnly = false;
  size_t ringBytes = 0; ///< a power of two
  uint64_t lostSamples = 0;
  std::string reason = "it was not asked for";
  std::vector<Ring> rings;
};

/// Whether the access with the kernel's word \p dataSource
/// (PERF_SAMPLE_DATA_SRC) found its translation in no TLB.
bool isTlbMiss(uint64_t dataSource);

struct SpeAccess {
  uint64_t address;
  uint64_t events; ///< of its events packet
  bool isTlbMiss() const { return events & 1 << 5; }
};

/// Calls \p visit for each whole record of \p trace that has an address of
/// data. False at the first bytes that are not a packet; the rest is
/// skipped.
bool decodeSpe(llvm::ArrayRef<uint8_t> trace,
               llvm::function_ref<void(const SpeAccess &)> visit);

} // namespace mpg
