// No call may be inserted after a tail call that must be one (the compiler would stop), for
// memory of another address space (wrong code), in a signal handler, or in front of code that
// initialises the OpenMP runtime (the program would get other threads).
// RUN: %remarks %s | FileCheck %s
// RUN: %remarks-mode parallel-init %c-loaded %s | FileCheck %s --check-prefix=INIT
// RUN: %remarks -DSETTINGS %s | FileCheck %s --check-prefix=SETTINGS
// parallel-init starts its team at the loop, not at the allocation: a tail call is no obstacle.
// CHECK:      tail_calls: calls 0, SerialFirstTouch
// CHECK-NEXT: plain: calls 1, FirstTouchInserted
// CHECK-NEXT: on_signal: calls 0, SerialFirstTouch
// CHECK-NEXT: end
// INIT:      tail_calls: calls 0, InitParallelised
// INIT-NEXT: plain: calls 0, InitParallelised
// INIT-NEXT: on_signal: calls 0, SerialFirstTouch
// INIT-NEXT: end
// SETTINGS:     settings_last: calls 0, SerialFirstTouch
// SETTINGS-NOT: Inserted
#include <signal.h>
#include <stdlib.h>
#define USE(a)                                                                 \
  _Pragma("omp parallel for schedule(static)")                                 \
  for (long i = 0; i < n; ++i) a[i] += 1

#define TAIL(name, inner)                                                      \
  static __attribute__((noinline)) void *name(size_t bytes) {                  \
    __attribute__((musttail)) return inner(bytes);                             \
  }
TAIL(one, malloc)
TAIL(two, one)
TAIL(three, two)
TAIL(four, three)
double *tail_calls(long n) {
  double *a = four(n * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
  return a;
}

double *plain(long n) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
  return a;
}

__attribute__((address_space(1))) double elsewhere[1 << 20];
void other_space(void) {
  long n = 1 << 20;
  for (long i = 0; i < n; ++i) elsewhere[i] = i;
  USE(elsewhere);
}

static double state[1 << 20];
static void on_signal(int number) {
  for (long i = 0; i < 1 << 20; ++i) state[i] = number;
}
void handled(void) {
  long n = 1 << 20;
  signal(SIGINT, on_signal);
  USE(state);
}

#ifdef SETTINGS
double *settings_last(long n) {
  double *a = malloc(n * sizeof(double));
  setenv("OMP_NUM_THREADS", "5", 1);
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
  return a;
}
#endif
