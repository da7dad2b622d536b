// Data for the medium and large code models: more than 2 GiB of .bss, which is
// .lbss there, and initialised data in .ldata.

#include <stdio.h>

static long big[3L << 27];
long bigData[300000] = {1, 2, 3};
int small = 5;
int smallBss;

int main(void) {
  big[0] = 6;
  big[(3L << 27) - 1] = 8;
  if (big[0] + bigData[1] + small + smallBss != 13 ||
      big[(3L << 27) - 1] != 8)
    return 1;
  puts("values are right");
  return 0;
}
