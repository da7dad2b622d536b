// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap inside a test program that keeps the C library's malloc: its entry
// points have the names that static programs use, and its calls of the C
// library are counted. A process has one heap, which starts with one set of
// settings; so every test has a separate process.

#pragma once

#include "heap/Heap.h"

#include <functional>

extern "C" {
void *__wrap_malloc(size_t bytes);
void __wrap_free(void *block);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_memalign(size_t alignment, size_t bytes);
size_t __wrap_malloc_usable_size(void *block);
}

/// Settings of the heap that starts at the first call of any of its functions.
/// Before any change: defaults, on transparent huge pages, so that tests on one
/// machine do not take each other's pool away.
extern mpg::Config heapConfig;

/// The heap's calls of the C library's malloc and related functions, and of
/// free.
extern std::atomic<unsigned> libcAllocations, libcFrees;

/// More than this the C library never has.
constexpr size_t libcMostBytes = size_t(16) << 30;

/// Whether the heap is there now. False: it cannot start here.
bool startHeapUnderTest();

/// Bytes of readable memory in the heap's range, according to the kernel.
uint64_t readableHeapBytes();

/// Runs \p body in a separate process with \p config. A failed expectation, or
/// a signal, fails the calling test.
void inChild(const mpg::Config &config, const std::function<void()> &body);

/// A block of malloc's, which is expected to be as long and aligned as asked.
char *getBlock(size_t bytes);
