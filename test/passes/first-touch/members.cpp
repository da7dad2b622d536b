// Members that std::vector::resize makes are filled by one thread, in a function of the library
// that serves all vectors of a type. Nothing can be inserted there, and without a remark the
// arrays of a whole simulation stay on one node. No remark for vectors that a team fills or all
// threads make for themselves, that are small, that no loop divides, or that the user excludes.
// RUN: %remarks-cxx %s | %expect %s
// RUN: %remarks-cxx -g %s | %expect %s
// RUN: %cxx-loaded -g -c %s -o %t.o -Rpass-missed=mpg 2>&1 | FileCheck %s --check-prefix=NAMES
#include <memory>
#include <mpg/hints.h>
#include <vector>
#define OUT __attribute__((noinline))

// Leaves numbers unwritten, as mpg::numa_allocator does.
template <typename T> struct Unwritten : std::allocator<T> {
  template <typename U> struct rebind { using other = Unwritten<U>; };
  template <typename U> void construct(U *p) { ::new (p) U; }
  template <typename U, typename... A> void construct(U *p, A &&...a) {
    ::new (p) U(static_cast<A &&>(a)...);
  }
};

// As in C: the caller's arrays.
struct Table {
  double *values, *half, *team;
};

// CHECK: make: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
OUT void make(Table *table, long n) {
  table->values = static_cast<double *>(__builtin_malloc(n * sizeof(double)));
  for (long i = 0; i < n; ++i) table->values[i] = 1;
}
OUT void makeHalf(Table *table, long n) {
  table->half = static_cast<double *>(__builtin_malloc(n * sizeof(double)));
  for (long i = 0; i < n / 2; ++i) table->half[i] = 1;
}
OUT void fillByTeam(Table *table, long n) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) table->team[i] = 1;
}
OUT void makeByTeam(Table *table, long n) {
  table->team = static_cast<double *>(__builtin_malloc(n * sizeof(double)));
  fillByTeam(table, n);
  for (long i = 0; i < n; ++i) table->team[i] += i;
}

struct Mesh {
  std::vector<double> x, y, chosen, few, off, all;
  std::vector<double, Unwritten<double>> own;
  Table table;
  OUT void allocate(long n);
  OUT void allocateOff(long n);
  OUT void step(long n, const long *index);
};

// NAMES: members.cpp:[[#@LINE+4]]:{{[0-9]+}}: remark: 'x' is initialised by one thread, so all of it is on one NUMA node,
// NAMES-SAME: in the parallel loop at members.cpp:[[#@LINE+16]] (schedule(static)); fix: a container with an allocator that places its memory (mpg::numa_allocator) (no call is inserted: std::vector<double{{.*}}>::_M_default_append allocates and fills it, and does so for others, too)
// CHECK-NEXT: allocate: calls 0, SerialFirstTouch@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]], NotBlock@[[#@LINE+4]]
void Mesh::allocate(long n) {
  x.resize(n);
  y.resize(2 * n);
  chosen.resize(n);
  few.resize(1000);
  all.resize(n);
  own.resize(n);
  make(&table, n);
  makeHalf(&table, n);
  makeByTeam(&table, n);
}
MPG_FIRST_TOUCH_OFF void Mesh::allocateOff(long n) { off.resize(n); }

void Mesh::step(long n, const long *index) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) {
    x[i] += y[2 * i] + own[i] + off[i] + all[0];
    table.values[i] += table.half[i] + table.team[i];
    chosen[index[i]] = x[i];
  }
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < few.size(); ++i) few[i] += 1;
}

// Each thread has its own.
OUT void makeEach(Mesh *meshes, long count, long n, const long *index) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < count; ++i) meshes[i].allocateOff(n);
}

int main(int argc, char **argv) {
  Mesh mesh;
  long n = argc * 1000000L, *index = new long[n];
  mesh.allocate(n);
  mesh.allocateOff(n);
  mesh.step(n, index);
  Mesh each[4];
  makeEach(each, 4, n, index);
  return mesh.x[n / 2] > 0;
}
// CHECK-NEXT: end
