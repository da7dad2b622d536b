// 3.4 MiB each of .data and .bss, which the program checks. With WITH_LIBRARY,
// library.c checks its own data as well.
#include <stdio.h>

int data[900000] = {1, 2, 3};
int bss[900000];

#ifdef WITH_LIBRARY
int libraryCheck(void);
#endif

int main(void) {
  for (int i = 0; i < 900000; ++i)
    if (bss[i] != 0)
      return 1;
  bss[899999] = data[2];
#ifdef WITH_LIBRARY
  if (libraryCheck() != 5)
    return 2;
#endif
  if (bss[899999] != 3 || data[899999] != 0)
    return 3;
  puts("values are right");
  return 0;
}
