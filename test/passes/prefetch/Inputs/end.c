// Sums an array up to the end of what is mapped, upwards and downwards, and looks up by it.
#include <stdio.h>
#include <sys/mman.h>
enum { count = 4096, bytes = count * sizeof(double) };

__attribute__((noinline)) double up(const double *a, long n) {
  double s = 0;
  for (long i = 0; i < n; i++) s += a[i];
  return s;
}
__attribute__((noinline)) double down(const double *a, long n) {
  double s = 0;
  while (n--) s += a[n];
  return s;
}
__attribute__((noinline)) void look(double *restrict to, const double *restrict from,
                                    const long *restrict at, long n) {
#pragma clang loop vectorize(disable)
  for (long i = 0; i < n; i++) to[i] = from[at[i]];
}

int main(void) {
  char *all = mmap(0, 3 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  double *a = (double *)(all + (1 << 20));
  mprotect(a, bytes, PROT_READ | PROT_WRITE);
  for (int i = 0; i < count; i++) a[i] = 1;
  double sum = up(a, count) + down(a, count);
  static double from[1 << 20], to[count];
  long *at = (long *)a;
  for (int i = 0; i < count; i++) at[i] = i * 250, from[i * 250] = i;
  look(to, from, at, count);
  printf("sum %g %g\n", sum, up(to, count));
  return 0;
}
