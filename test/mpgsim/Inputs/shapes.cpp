/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The program of shapes.test: a table of 4 MiB that is read again and again
 * beside a stream of 32 MiB. SHAPE says how the two are allocated; what is
 * accessed is the same, so 34 % of the traffic to memory can be saved in each.
 */
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <memory_resource>
#include <new>
#include <sys/mman.h>
#include <vector>

static const long tableSize = 4 << 17, streamSize = 4 << 20;

__attribute__((noinline)) static double run(const double *table,
                                            const double *stream) {
  double sum = 0;
  for (int round = 0; round < 2; round++)
    for (long part = 0; part < streamSize / tableSize; part++)
      for (long i = 0; i < tableSize; i++)
        sum += table[i] * stream[part * tableSize + i];
  return sum;
}

static double *filled(double *all, long size) {
  for (long i = 0; i < size; i++)
    all[i] = 1;
  return all;
}

#if SHAPE == 1 /* A helper in C. */
static double *make(long size) {
  void *all = 0;
  if (posix_memalign(&all, 256, size * sizeof(double)))
    exit(1);
  return filled((double *)all, size);
}
int main() {
  double *table = make(tableSize);
  double *stream = make(streamSize);
  printf("%g\n", run(table, stream));
}
#elif SHAPE == 2  /* Vectors that grow. */
int main() {
  std::vector<double> table, stream;
  table.resize(tableSize, 1.0);
  stream.resize(streamSize, 1.0);
  printf("%g\n", run(table.data(), stream.data()));
}
#elif SHAPE == 3  /* Members that one constructor allocates. */
struct Grid {
  double *cells;
  long size;
  explicit Grid(long size) : cells(new double[size]), size(size) {
    filled(cells, size);
  }
  ~Grid() { delete[] cells; }
};
int main() {
  Grid table(tableSize), stream(streamSize);
  printf("%g\n", run(table.cells, stream.cells));
}
#elif SHAPE == 4  /* An arena: both are parts of one block. */
struct Arena {
  char *next = (char *)malloc((tableSize + streamSize) * sizeof(double));
  double *take(long size) {
    char *all = next;
    next += size * sizeof(double);
    return filled((double *)all, size);
  }
};
int main() {
  Arena arena;
  double *table = arena.take(tableSize);
  double *stream = arena.take(streamSize);
  printf("%g\n", run(table, stream));
}
#elif SHAPE == 5  /* Views that count their users, as Kokkos has them. */
template <typename T> class View {
  std::shared_ptr<T> all;

public:
  View(const char *, long size)
      : all((T *)aligned_alloc(256, size * sizeof(T)), free) {
    filled(all.get(), size);
  }
  T *data() const { return all.get(); }
};
int main() {
  View<double> table("table", tableSize), stream("stream", streamSize);
  printf("%g\n", run(table.data(), stream.data()));
}
#elif SHAPE == 6  /* Blocks that realloc makes larger. */
int main() {
  double *table = (double *)malloc(64), *stream = (double *)malloc(64);
  table = (double *)realloc(table, tableSize * sizeof(double));
  stream = (double *)realloc(stream, streamSize * sizeof(double));
  printf("%g\n", run(filled(table, tableSize), filled(stream, streamSize)));
}
#elif SHAPE == 7  /* One function for all types. */
template <typename T> T *allocate(long size) {
  return filled(static_cast<T *>(::operator new(size * sizeof(T))), size);
}
int main() {
  double *table = allocate<double>(tableSize);
  double *stream = allocate<double>(streamSize);
  printf("%g\n", run(table, stream));
}
#elif SHAPE == 8  /* A lambda, called through std::function. */
int main() {
  std::function<double *(long)> make = [](long size) {
    return filled(new double[size], size);
  };
  double *table = make(tableSize);
  double *stream = make(streamSize);
  printf("%g\n", run(table, stream));
}
#elif SHAPE == 9  /* A factory that owns what it makes. */
struct Field {
  virtual ~Field() = default;
  std::unique_ptr<double[]> all;
};
static std::unique_ptr<Field> makeField(long size) {
  std::unique_ptr<Field> field(new Field);
  field->all = std::make_unique<double[]>(size);
  filled(field->all.get(), size);
  return field;
}
int main() {
  std::unique_ptr<Field> table = makeField(tableSize);
  std::unique_ptr<Field> stream = makeField(streamSize);
  printf("%g\n", run(table->all.get(), stream->all.get()));
}
#elif SHAPE == 10 /* Objects that are put into a buffer. */
struct Numbers {
  double all[1];
};
int main() {
  char *buffer = new char[(tableSize + streamSize) * sizeof(double)];
  Numbers *table = new (buffer) Numbers;
  Numbers *stream = new (buffer + tableSize * sizeof(double)) Numbers;
  printf("%g\n",
         run(filled(table->all, tableSize), filled(stream->all, streamSize)));
}
#elif SHAPE == 11 /* A pool that has its blocks from one loop. */
static std::vector<double *> pool;
int main() {
  for (int i = 0; i < 2; i++)
    pool.push_back((double *)malloc((i ? streamSize : tableSize) * 8));
  double *table = pool[0], *stream = pool[1];
  printf("%g\n", run(filled(table, tableSize), filled(stream, streamSize)));
}
#elif SHAPE == 12 /* Memory that the program maps. */
static double *map(long size) {
  void *all = mmap(nullptr, size * sizeof(double), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED)
    exit(1);
  return filled((double *)all, size);
}
int main() {
  munmap(map(streamSize), streamSize * sizeof(double));
  double *table = map(tableSize);
  double *stream = map(streamSize);
  printf("%g\n", run(table, stream));
}
#elif SHAPE == 13 /* Parts of a variable that a resource gives out. */
static volatile char buffer[(tableSize + streamSize) * sizeof(double) + 4096];
int main() {
  buffer[sizeof buffer - 1] = 1;
  std::pmr::monotonic_buffer_resource resource((char *)buffer, sizeof buffer);
  std::pmr::vector<double> table(tableSize, 1.0, &resource),
      stream(streamSize, 1.0, &resource);
  printf("%g\n", run(table.data(), stream.data()));
}
#elif SHAPE == 14 /* A resource of the program's own that maps memory. */
struct Mapped : std::pmr::memory_resource {
  void *do_allocate(size_t bytes, size_t) override {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  void do_deallocate(void *all, size_t bytes, size_t) override {
    munmap(all, bytes);
  }
  bool do_is_equal(const memory_resource &other) const noexcept override {
    return this == &other;
  }
};
int main() {
  Mapped resource;
  std::pmr::vector<double> table(tableSize, 1.0, &resource);
  std::pmr::vector<double> stream(streamSize, 1.0, &resource);
  printf("%g\n", run(table.data(), stream.data()));
}
#elif SHAPE == 15 /* A pool of the C++ library. */
int main() {
  std::pmr::unsynchronized_pool_resource resource;
  std::pmr::vector<double> table(tableSize, 1.0, &resource),
      stream(streamSize, 1.0, &resource);
  printf("%g\n", run(table.data(), stream.data()));
}
#elif SHAPE == 16 /* Both in one mapping. */
int main() {
  auto *arena = (double *)mmap(nullptr, (tableSize + streamSize) * 8,
                               PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  double *table = filled(arena, tableSize);
  double *stream = filled(arena + tableSize, streamSize);
  printf("%g\n", run(table, stream));
}
#endif
