// mpg::numa_allocator with containers of the C++ library: prints `right`, or
// what is wrong, with status 1. Built with and without OpenMP, libmpg,
// and sanitizers.

#include <mpg/numa_allocator.hpp> // first: it must not need others

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

template <class T> using Vector = std::vector<T, mpg::numa_allocator<T>>;

static void check(bool isRight, const char *what) {
  if (isRight)
    return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

template <class T> static bool isAligned(const T *at, std::size_t unit) {
  return reinterpret_cast<std::uintptr_t>(at) % unit == 0;
}

template <class T> static std::size_t pageOffset(const T *at) {
  return reinterpret_cast<std::uintptr_t>(at) % (2 << 20);
}

/// Below 4 MiB, exactly, above, and empty.
static void sizes() {
  for (std::size_t count : {0u, 1u, 1000u, 524287u, 524288u, 524289u, 3000000u})
    for (std::size_t chunk : {0u, 1u, 4096u, 100000000u}) {
      mpg::numa_allocator<double> allocator(chunk, chunk == 1 ? 3 : 0);
      Vector<double> x(count, 1.5, allocator);
      check(x.size() == count, "the size");
      check(std::accumulate(x.begin(), x.end(), 0.0) == 1.5 * double(count),
            "the contents");
      check(count < 524288 || pageOffset(x.data()) < 4096, "the alignment");
    }
}

/// Arrays of one length do not meet in one set of the cache, as they would if
/// all began at the same place of a page.
static void colors() {
  Vector<double> a(1 << 20), b(1 << 20), c(1 << 20), d(1 << 20), e(1 << 20);
  const double *starts[] = {a.data(), b.data(), c.data(), d.data(), e.data()};
  for (const double *one : starts) {
    check(isAligned(one, 256), "the alignment to lines");
    for (const double *other : starts)
      check(one == other || pageOffset(one) != pageOffset(other), "colors");
  }
}

static int alive = 0;
static int failing = -1; // the constructor that throws, counted down

struct Counted {
  int value;
  Counted() : value(7) { arrive(); }
  explicit Counted(int value) : value(value) { arrive(); }
  Counted(const Counted &other) : value(other.value) { arrive(); }
  ~Counted() { --alive; }
  Counted &operator=(const Counted &) = default;

private:
  static void arrive() {
    if (failing >= 0 && failing-- == 0)
      throw std::runtime_error("constructor");
    ++alive;
  }
};

/// Classes are constructed as always, and destroyed when one of them throws.
static void constructors() {
  {
    Vector<Counted> x(2000000);
    check(alive == 2000000 && x.front().value == 7 && x.back().value == 7,
          "default constructors");
    x.emplace_back(9);
    check(x.back().value == 9 && x[1999999].value == 7, "growth");
    Vector<Counted> y(x);
    check(alive == 4000002 && y.back().value == 9, "a copy");
  }
  check(alive == 0, "destructors");
  for (int at : {0, 1, 1999999}) {
    failing = at;
    bool isCaught = false;
    try {
      Vector<Counted> x(2000000);
    } catch (const std::runtime_error &) {
      isCaught = true;
    }
    check(isCaught && alive == 0, "a constructor that throws");
  }
  failing = -1;
}

template <class Exception> static bool refuses(std::size_t count) {
  mpg::numa_allocator<double> allocator;
  try {
    allocator.deallocate(allocator.allocate(count), count);
  } catch (const Exception &) {
    return true;
  } catch (...) {
  }
  return false;
}

static void shortages() {
  check(refuses<std::bad_array_new_length>(SIZE_MAX), "SIZE_MAX elements");
  check(refuses<std::bad_array_new_length>(SIZE_MAX / 8 + 1), "wrap-around");
  check(refuses<std::bad_array_new_length>(SIZE_MAX / 16 + 1), "half of all");
#ifndef MPG_TEST_SANITIZED // its operator new ends the program instead
  check(refuses<std::bad_alloc>(std::size_t(1) << 50), "far too many");
#endif
}

struct alignas(128) Line {
  char bytes[128];
};
struct alignas(8 << 20) Huge {
  char bytes[8 << 20];
};

static void alignments() {
  for (std::size_t count : {1u, 5u, 40000u}) {
    Vector<Line> x(count);
    check(isAligned(x.data(), 128), "alignas(128)");
  }
  Vector<Huge> y(1);
  check(isAligned(y.data(), 8 << 20), "alignas(8 MiB)");
}

static void containers() {
  std::list<std::string, mpg::numa_allocator<std::string>> list;
  std::map<int, double, std::less<int>,
           mpg::numa_allocator<std::pair<const int, double>>>
      map;
  std::deque<long, mpg::numa_allocator<long>> deque;
  std::basic_string<char, std::char_traits<char>, mpg::numa_allocator<char>>
      text;
  Vector<bool> bits(100000000, true);
  Vector<std::unique_ptr<int>> pointers;
  for (int i = 0; i < 10000; ++i) {
    list.push_back(std::to_string(i));
    map[i] = i;
    deque.push_front(i);
    text += char('a' + i % 26);
    pointers.push_back(std::make_unique<int>(i));
  }
  text.resize(6 << 20, 'z');
  check(list.back() == "9999" && map.at(5000) == 5000 && deque.back() == 0 &&
            text.back() == 'z' && text[27] == 'b' && *pointers[77] == 77 &&
            bits[99999999],
        "another container");
}

/// Memory goes along with a swap or a move, and so does how it is shared out.
static void moves() {
  Vector<double> x(1 << 20, mpg::numa_allocator<double>(512, 2)), y(3);
  std::iota(x.begin(), x.end(), 0.0);
  const double *data = x.data();
  y = std::move(x);
  check(y.data() == data && y.get_allocator().chunk() == 512 &&
            y.get_allocator().threads() == 2,
        "move assignment");
  Vector<double> z;
  swap(y, z);
  check(z.data() == data && z[1000] == 1000 && y.empty() &&
            y.get_allocator().chunk() == 0,
        "swap");
  Vector<double> copy;
  copy = z;
  check(copy == z && copy.get_allocator().chunk() == 512, "copy assignment");
  mpg::numa_allocator<int> other(mpg::numa_allocator<double>(7, 8));
  check(other.chunk() == 7 && other.threads() == 8 &&
            other == mpg::numa_allocator<char>() &&
            !(other != mpg::numa_allocator<char>()),
        "rebinding");
}

/// Each thread's own vectors, inside a region where no team can start.
static void insideOfRegions() {
  int wrongOnes = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrongOnes)
  for (int round = 0; round < 4; ++round) {
    Vector<int> x(2 << 20);
    std::fill(x.begin(), x.end(), round);
    wrongOnes += std::count(x.begin(), x.end(), round) != 2 << 20;
  }
  check(wrongOnes == 0, "inside of a parallel region");
}

int main() {
  sizes();
  colors();
  constructors();
  shortages();
  alignments();
  containers();
  moves();
  insideOfRegions();
  std::puts("right");
}
