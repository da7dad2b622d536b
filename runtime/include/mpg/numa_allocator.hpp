// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg::numa_allocator<T>: a C++17 allocator that places memory on the NUMA
// nodes of the OpenMP threads that will work on it:
//
//   std::vector<double, mpg::numa_allocator<double>> x(n);
//   #pragma omp parallel for schedule(static)
//   for (...) x[i] = 0; // each thread in its own memory
//
// It differs from std::allocator in two ways. The pages of a large block are
// placed when it is allocated, each by the thread that will work on it in a
// loop over all elements. And vector(n) and resize(n) default-initialise their
// new elements: numbers are uninitialised, as with `new double[n]`, so no
// serial loop touches the memory. vector(n, 0.0) does so, on pages that are
// already placed.
//
// libmpg does the placing (mpg_first_touch). A program without libmpg that is
// compiled with OpenMP does it here; without both, memory comes from operator
// new as it is. Blocks below 4 MiB are not placed, nor are blocks allocated
// inside of a parallel region: there each thread's own use is the first touch.
// Memory that was used before, or paged in by
// XOS_MMM_L_PAGING_POLICY=...:prepage, stays where it is.
//
// Construct with the final size, or reserve() it: a growing vector places its
// new memory by the new size, and moves its elements serially. Compile all
// files that use one type of allocator with OpenMP or none: otherwise the
// linker picks one of two definitions of each function.

#ifndef MPG_NUMA_ALLOCATOR_HPP
#define MPG_NUMA_ALLOCATOR_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include <mpg/pass.h>

#ifdef _OPENMP
#include <omp.h>
#include <unistd.h>
#endif

// Null in a program without libmpg.
#pragma weak mpg_first_touch

namespace mpg {

namespace numa_allocator_detail {

/// Below this a block is not worth a parallel region; as in libmpg.
constexpr std::size_t minBytes = std::size_t(4) << 20;
/// Blocks begin with a large page: then the borders between the threads of
/// arrays of the same length are the same pages. HW:huge-sizes-4k
constexpr std::size_t largePageBytes = std::size_t(2) << 20;

/// Arrays that all begin at the same offset of a page would share one set of
/// the L1 cache at every index. So each begins one line after the one before,
/// 16 in turn. The largest line is that of A64FX; 16 of them are a way where
/// lines have 64 bytes. HW:a64fx-l1d-way
constexpr std::size_t lineBytes = 256;
constexpr unsigned colors = 16;
inline std::atomic<unsigned> color{0};

inline std::size_t nextShift(std::size_t alignment) noexcept {
  if (alignment > lineBytes)
    return 0;
  return color.fetch_add(1, std::memory_order_relaxed) % colors * lineBytes;
}

#ifdef _OPENMP
/// As mpg_first_touch, for fresh memory and base pages: each page is touched by
/// the thread that works on the touched element.
inline void touch(char *start, std::size_t bytes, std::size_t elementBytes,
                  std::size_t chunk, unsigned threads) {
  const std::size_t pageBytes = std::size_t(sysconf(_SC_PAGESIZE));
  const std::size_t count = bytes / elementBytes;
#pragma omp parallel num_threads(threads ? int(threads) : omp_get_max_threads())
  {
    const std::size_t team = std::size_t(omp_get_num_threads());
    const std::size_t self = std::size_t(omp_get_thread_num());
    // The first threads have one element more where it does not come out even.
    const std::size_t block = count / team, longer = count % team;
    const std::size_t first = self * block + (self < longer ? self : longer);
    const std::size_t end = first + block + (self < longer ? 1 : 0);
    for (std::size_t at = 0; at < bytes; at += pageBytes) {
      const std::size_t element = at / elementBytes;
      if (chunk ? element / chunk % team == self
                : first <= element && element < end)
        static_cast<volatile char *>(start)[at] = 0;
    }
  }
}
#endif

inline void place(void *start, std::size_t bytes, std::size_t elementBytes,
                  std::size_t chunk, unsigned threads) noexcept {
  if (mpg_first_touch) {
    mpg_first_touch(start, bytes, chunk ? 1 : 0, elementBytes, chunk, threads);
    return;
  }
#ifdef _OPENMP
  if (!omp_in_parallel())
    touch(static_cast<char *>(start), bytes, elementBytes, chunk, threads);
#endif
}

} // namespace numa_allocator_detail

/// See the file head. All its objects are equal: what one has allocated, each
/// other can free. Thread-safe as std::allocator is.
template <class T> class numa_allocator {
  static_assert(!std::is_const_v<T> && !std::is_volatile_v<T>,
                "numa_allocator<T>: T without const and volatile");

public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using is_always_equal = std::true_type;
  // The division of memory belongs to the contents.
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  /// For loops with schedule(static).
  numa_allocator() noexcept = default;

  /// For loops with schedule(static, chunk); a chunk is that many elements. 0:
  /// schedule(static). \p threads: of num_threads(); 0: as many as by default.
  explicit numa_allocator(std::size_t chunk, unsigned threads = 0) noexcept
      : chunkElements(chunk), teamThreads(threads) {}

  template <class U>
  numa_allocator(const numa_allocator<U> &other) noexcept
      : chunkElements(other.chunk()), teamThreads(other.threads()) {}

  std::size_t chunk() const noexcept { return chunkElements; }
  unsigned threads() const noexcept { return teamThreads; }

  /// Throws std::bad_array_new_length or std::bad_alloc.
  [[nodiscard]] T *allocate(std::size_t count) {
    if (count > maxElements)
      refuse();
    const std::size_t bytes = count * sizeof(T);
    if (!isLarge(bytes))
      return static_cast<T *>(allocateSmall(bytes));
    const std::size_t shift = numa_allocator_detail::nextShift(alignof(T));
    void *start = static_cast<char *>(::operator new(
                      bytes + shift, std::align_val_t(largeAlignment))) +
                  shift;
    numa_allocator_detail::place(start, bytes, sizeof(T), chunkElements,
                                 teamThreads);
    return static_cast<T *>(start);
  }

  void deallocate(T *start, std::size_t count) noexcept {
    const std::size_t bytes = count * sizeof(T);
    if (isLarge(bytes)) {
      const std::size_t shift =
          reinterpret_cast<std::uintptr_t>(start) % largeAlignment;
      ::operator delete(reinterpret_cast<char *>(start) - shift, bytes + shift,
                        std::align_val_t(largeAlignment));
    } else if constexpr (isOverAligned)
      ::operator delete(start, bytes, std::align_val_t(alignof(T)));
    else
      ::operator delete(start, bytes);
  }

  /// Without arguments: default-initialises, which leaves numbers unwritten.
  template <class U>
  void construct(U *at) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void *>(at)) U;
  }

  template <class U, class First, class... Rest>
  void construct(U *at, First &&first, Rest &&...rest) {
    ::new (static_cast<void *>(at))
        U(std::forward<First>(first), std::forward<Rest>(rest)...);
  }

private:
  static constexpr std::size_t maxElements =
      std::size_t(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T);
  static constexpr bool isOverAligned =
      alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  static constexpr std::size_t
      largeAlignment = alignof(T) > numa_allocator_detail::largePageBytes
                           ? alignof(T)
                           : numa_allocator_detail::largePageBytes;

  static bool isLarge(std::size_t bytes) noexcept {
    return bytes >= numa_allocator_detail::minBytes;
  }

  static void *allocateSmall(std::size_t bytes) {
    if constexpr (isOverAligned)
      return ::operator new(bytes, std::align_val_t(alignof(T)));
    else
      return ::operator new(bytes);
  }

  [[noreturn]] static void refuse() {
#ifdef __cpp_exceptions
    throw std::bad_array_new_length();
#else
    std::abort(); // as std::allocator without exceptions
#endif
  }

  std::size_t chunkElements = 0;
  unsigned teamThreads = 0;
};

template <class T, class U>
bool operator==(const numa_allocator<T> &, const numa_allocator<U> &) noexcept {
  return true;
}

template <class T, class U>
bool operator!=(const numa_allocator<T> &, const numa_allocator<U> &) noexcept {
  return false;
}

} // namespace mpg

#endif // MPG_NUMA_ALLOCATOR_HPP
