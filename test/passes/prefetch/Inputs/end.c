// Sums an array up to the end of what is mapped, upwards and downwards.
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

int main(void) {
  char *all = mmap(0, 3 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  double *a = (double *)(all + (1 << 20));
  mprotect(a, bytes, PROT_READ | PROT_WRITE);
  for (int i = 0; i < count; i++) a[i] = 1;
  printf("sum %g\n", up(a, count) + down(a, count));
  return 0;
}
