// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which variant of the kernels this processor gets. Asked once; two threads
// that ask at the same time get the same answer.

#include "KernelTable.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

using namespace mpg;

static constexpr KernelTable plain = {"plain", plainStream, plainLookup};

#if defined(__x86_64__)

static constexpr KernelTable avx2 = {"avx2", avx2Stream, avx2Lookup};
static constexpr KernelTable avx512 = {"avx512", avx512Stream, avx2Lookup};

/// Also whether the system saves the registers of AVX.
static const KernelTable &choose() {
  __builtin_cpu_init();
  // Ice Lake, Zen 4 and later: what had AVX-512 before lowers its clock for it.
  if (__builtin_cpu_supports("avx512vbmi2"))
    return avx512;
  return __builtin_cpu_supports("avx2") ? avx2 : plain;
}

#elif defined(__aarch64__)

static constexpr KernelTable sve = {"sve", sveStream, sveLookup};

static const KernelTable &choose() {
  constexpr unsigned long hwcapSve = 1ul << 22; // asm/hwcap.h
  return getauxval(AT_HWCAP) & hwcapSve ? sve : plain;
}

#else

static const KernelTable &choose() { return plain; }

#endif

const KernelTable &mpg::kernels() {
  static const KernelTable *chosen = nullptr;
  const KernelTable *known = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
  if (!known) {
    known = &choose();
    __atomic_store_n(&chosen, known, __ATOMIC_RELEASE);
  }
  return *known;
}

const char *mpg_kernel_variant(void) { return kernels().name; }
