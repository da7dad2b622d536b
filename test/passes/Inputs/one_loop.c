#include <mpg/hints.h>
void NAME(MPG_STREAM long *a, long n) {
  for (long i = 0; i < n; i++)
    a[i]++;
}
