/* Calls the functions of shift.c with arrays that overlap. */
#include <stdio.h>

void shift(int *a, int *b, int n);
void recur(int *a, int *p, int *b, int n);
int twice(int *p, int *q);

int x[2048], one[2048];

int main(void) {
  for (int i = 0; i < 2048; i++)
    one[i] = 1;
  shift(x + 1, x, 2000);
  printf("shift %d\n", x[1000]);
  for (int i = 0; i < 4; i++)
    x[i] = 0;
  recur(x, x, one, 2048);
  printf("recur %d\n", x[2000]);
  printf("twice %d\n", twice(x, x));
  return 0;
}
