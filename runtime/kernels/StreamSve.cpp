// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// STREAM with SVE of any vector length: one loop for all operations and element
// types. Four vectors an iteration: with the 512 bits of A64FX that is one line
// of its cache (HW:a64fx-l1d-way), so one prefetch a source and one DC ZVA an
// iteration are what a line needs.
//
// The parts of a call, in this order:
//   head   up to the first multiple of four vectors in the destination, once,
//          under a predicate: a store that crosses a line costs two accesses
//   zeroed whole lines, while the line `zeroFillBytes` ahead is the call's own
//   whole  whole lines, the rest
//   tail   vectors under a predicate
// So no loop decides in each iteration what it may do. Features that the tuning
// switches off are not in the loop at all.

#include "KernelTable.h"
#include <arm_sve.h>

using namespace mpg;

namespace {

/// Vectors an iteration.
constexpr size_t vectors = 4;

/// SVE types whose intrinsics have no common name.
template <typename T> struct Vector;

template <> struct Vector<double> {
  using Type = svfloat64_t;
  static size_t lanes() { return svcntd(); }
  static svbool_t all() { return svptrue_b64(); }
  static svbool_t below(uint64_t i, uint64_t n) { return svwhilelt_b64(i, n); }
};

template <> struct Vector<float> {
  using Type = svfloat32_t;
  static size_t lanes() { return svcntw(); }
  static svbool_t all() { return svptrue_b32(); }
  static svbool_t below(uint64_t i, uint64_t n) { return svwhilelt_b32(i, n); }
};

struct Copy {
  static constexpr bool readsC = false;
  template <typename T, typename V> static V of(svbool_t, V b, V, T) {
    return b;
  }
};
struct Scale {
  static constexpr bool readsC = false;
  template <typename T, typename V> static V of(svbool_t lanes, V b, V, T s) {
    return svmul_x(lanes, b, s);
  }
};
struct Add {
  static constexpr bool readsC = true;
  template <typename T, typename V> static V of(svbool_t lanes, V b, V c, T) {
    return svadd_x(lanes, b, c);
  }
};
struct Triad {
  static constexpr bool readsC = true;
  template <typename T, typename V> static V of(svbool_t lanes, V b, V c, T s) {
    return svmla_x(lanes, b, c, s);
  }
};

/// How far ahead of the loop lines are asked for or zeroed; 0: not at all.
struct Ahead {
  size_t prefetchBytes, zeroFillBytes;
};

} // namespace

/// Into L2: prefetched into L1, A64FX was slower than without.
/// HW:a64fx-prefetch
static inline void prefetch(const void *base, size_t bytesAhead) {
  __asm__ volatile("prfm pldl2keep, [%0, %1]" : : "r"(base), "r"(bytesAhead));
}

/// Zeroes the block of zeroFillBlockBytes() that \p address is in, without
/// reading it from memory. HW:a64fx-zero-fill
static inline void zeroBlock(void *address) {
  __asm__ volatile("dc zva, %0" : : "r"(address) : "memory");
}

/// One vector of the call, at the call's pointers.
template <typename Operation, typename T>
static inline void runVector(const StreamCall<T> &call, svbool_t lanes) {
  typename Vector<T>::Type b = svld1(lanes, call.b);
  typename Vector<T>::Type c = Operation::readsC ? svld1(lanes, call.c) : b;
  svst1(lanes, call.a, Operation::of(lanes, b, c, call.s));
}

/// Moves the pointers of \p call on by \p elements.
template <typename Operation, typename T>
static inline void advance(StreamCall<T> &call, size_t elements) {
  call.a += elements;
  call.b += elements;
  if (Operation::readsC)
    call.c += elements;
  call.count -= elements;
}

/// Runs iterations of four vectors while more than \p rest elements remain
/// after each.
template <typename Operation, bool prefetches, bool zeroes, typename T>
static void runWhole(StreamCall<T> &call, const Ahead &ahead, size_t rest) {
  using V = typename Vector<T>::Type;
  const size_t step = vectors * Vector<T>::lanes();
  if (call.count < rest + step)
    return;
  const size_t elements = (call.count - rest) / step * step;
  const svbool_t all = Vector<T>::all();
  const size_t prefetchBytes = ahead.prefetchBytes;
  const size_t zeroFillBytes = ahead.zeroFillBytes;
  const T s = call.s, *b = call.b, *c = call.c;
  for (T *a = call.a, *end = a + elements; a != end; a += step, b += step) {
    if (prefetches)
      prefetch(b, prefetchBytes);
    if (prefetches && Operation::readsC)
      prefetch(c, prefetchBytes);
    if (zeroes)
      zeroBlock(reinterpret_cast<char *>(a) + zeroFillBytes);
    V b0 = svld1_vnum(all, b, 0), c0 = b0;
    V b1 = svld1_vnum(all, b, 1), c1 = b1;
    V b2 = svld1_vnum(all, b, 2), c2 = b2;
    V b3 = svld1_vnum(all, b, 3), c3 = b3;
    if (Operation::readsC) {
      c0 = svld1_vnum(all, c, 0);
      c1 = svld1_vnum(all, c, 1);
      c2 = svld1_vnum(all, c, 2);
      c3 = svld1_vnum(all, c, 3);
      c += step;
    }
    svst1_vnum(all, a, 0, Operation::of(all, b0, c0, s));
    svst1_vnum(all, a, 1, Operation::of(all, b1, c1, s));
    svst1_vnum(all, a, 2, Operation::of(all, b2, c2, s));
    svst1_vnum(all, a, 3, Operation::of(all, b3, c3, s));
  }
  advance<Operation>(call, elements);
}

/// Vectors under a predicate until the call is done.
template <typename Operation, typename T>
static void runTail(StreamCall<T> &call) {
  const size_t lanes = Vector<T>::lanes();
  while (call.count) {
    size_t now = call.count < lanes ? call.count : lanes;
    runVector<Operation>(call, Vector<T>::below(0, now));
    advance<Operation>(call, now);
  }
}

/// Up to the first border of a whole iteration in the destination; nothing if
/// that is between elements.
template <typename Operation, typename T>
static void runHead(StreamCall<T> &call, size_t stepBytes) {
  size_t past = uintptr_t(call.a) % stepBytes;
  if (past == 0 || past % sizeof(T) != 0)
    return;
  size_t head = (stepBytes - past) / sizeof(T);
  StreamCall<T> part = call;
  part.count = head < call.count ? head : call.count;
  advance<Operation>(call, part.count);
  runTail<Operation>(part);
}

/// The part of the tuning that this machine can use. Zero fill needs iterations
/// that each write one block of DC ZVA, as with the 512 bits and 256 bytes of
/// A64FX. Other sizes would need a nested loop, for machines on which no gain
/// was measured.
template <typename T>
static Ahead computeAhead(const StreamCall<T> &call, size_t stepBytes) {
  Ahead ahead = {call.tuning->prefetchBytes, call.tuning->zeroFillBytes};
  bool possible =
      zeroFillBlockBytes() == stepBytes && uintptr_t(call.a) % stepBytes == 0;
  ahead.zeroFillBytes =
      possible ? (ahead.zeroFillBytes + stepBytes - 1) / stepBytes * stepBytes
               : 0;
  return ahead;
}

template <typename Operation, typename T>
static void run(const StreamCall<T> &whole) {
  const size_t stepBytes = vectors * Vector<T>::lanes() * sizeof(T);
  StreamCall<T> call = whole;
  runHead<Operation>(call, stepBytes);
  const Ahead ahead = computeAhead(call, stepBytes);
  const size_t zeroElements = ahead.zeroFillBytes / sizeof(T);
  if (zeroElements && ahead.prefetchBytes)
    runWhole<Operation, true, true>(call, ahead, zeroElements);
  else if (zeroElements)
    runWhole<Operation, false, true>(call, ahead, zeroElements);
  if (ahead.prefetchBytes)
    runWhole<Operation, true, false>(call, ahead, 0);
  else
    runWhole<Operation, false, false>(call, ahead, 0);
  runTail<Operation>(call);
}

const StreamKernels mpg::sveStream = {
    run<Copy, double>, run<Scale, double>, run<Add, double>, run<Triad, double>,
    run<Copy, float>,  run<Scale, float>,  run<Add, float>,  run<Triad, float>};
