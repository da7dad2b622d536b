// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which variant of the kernels this processor gets. Asked once; two threads
// that ask at the same time get the same answer. And what all of them share:
// mpg_kernel_error, and the sizes of caches.

#include "KernelTable.h"
#include <stdarg.h>
#include <stdio.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace mpg;

static constexpr KernelTable plain = {"plain", plainStream, plainLookup};

#if defined(__x86_64__)

static constexpr KernelTable avx2 = {"avx2", avx2Stream, avx2Lookup};
static constexpr KernelTable avx512 = {"avx512", avx512Stream, avx2Lookup};

/// Register files that the system saves, as bits of XCR0.
static unsigned savedRegisters() {
  constexpr unsigned hasXgetbv = 1 << 27;
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & hasXgetbv))
    return 0;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return a;
}

/// Not by __builtin_cpu_supports: that adds a constructor to libmpg with some
/// 30 CPUID instructions, each of which a hypervisor intercepts.
static const KernelTable &choose() {
  constexpr unsigned savesAvx = 0x6, savesAvx512 = 0xe6;
  constexpr unsigned hasAvx2 = 1 << 5, hasVbmi2 = 1 << 6; // of EBX, of ECX
  unsigned a, b, c, d, saved = savedRegisters();
  if ((saved & savesAvx) != savesAvx ||
      !__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return plain;
  // Ice Lake, Zen 4 and later: what had AVX-512 before lowers its clock for it.
  if ((saved & savesAvx512) == savesAvx512 && (c & hasVbmi2))
    return avx512;
  return b & hasAvx2 ? avx2 : plain;
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

// mpg_kernel_error

// Thread-local memory of the initial-exec model, so that reading it allocates
// nothing.
static __thread char text[160] __attribute__((tls_model("initial-exec")));

int mpg::kernelError(int error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return -error;
}

const char *mpg_kernel_error(void) { return text; }

// Caches. Ask the processor directly: under some hypervisors the C library's
// sysconf adds up all caches of one kind, and it does not know which CPUs share
// them.

#if defined(__x86_64__)

uint64_t mpg::readCacheBytes(unsigned level, unsigned &sharers) {
  constexpr unsigned leafAmd = 0x8000001d, leafIntel = 4, largestIndex = 8;
  constexpr unsigned leaves[] = {leafAmd, leafIntel};
  for (unsigned leaf : leaves)
    for (unsigned index = 0; index < largestIndex; ++index) {
      unsigned a, b, c, d;
      if (!__get_cpuid_count(leaf, index, &a, &b, &c, &d) || (a & 31) == 0)
        break;
      if ((a >> 5 & 7) != level)
        continue;
      uint64_t line = (b & 0xfff) + 1, parts = (b >> 12 & 0x3ff) + 1,
               ways = (b >> 22) + 1, sets = uint64_t(c) + 1;
      sharers = (a >> 14 & 0xfff) + 1;
      return line * parts * ways * sets;
    }
  return 0;
}

#endif

uint64_t mpg::readOnce(uint64_t &known, uint64_t (*read)()) {
  uint64_t bytes = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!bytes) {
    bytes = read();
    __atomic_store_n(&known, bytes, __ATOMIC_RELAXED);
  }
  return bytes;
}
