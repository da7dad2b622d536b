// Prints the addresses of its first small and its first medium block.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  void *volatile small = malloc(100);
  void *volatile medium = malloc(100000);
  printf("%p %p\n", small, medium);
  return 0;
}
