// A shared library with large .data and .bss, checked from program.c.

enum { dataInts = 600000, bssInts = 700000 };

int libraryData[dataInts] = {4, 5, 6};
int libraryBss[bssInts];
int *libraryPointers[] = {&libraryData[1], &libraryBss[bssInts - 1]};
static __thread int libraryThread = 3;
static int constructed;

__attribute__((constructor)) static void construct(void) { constructed = 21; }

int libraryCheck(void) {
  *libraryPointers[1] = 8;
  ++libraryThread;
  return !(libraryData[0] == 4 && libraryData[dataInts - 1] == 0 &&
           libraryBss[0] == 0 && libraryBss[bssInts - 1] == 8 &&
           *libraryPointers[0] == 5 && libraryThread == 4 && constructed == 21);
}
