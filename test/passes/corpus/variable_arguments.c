// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions with variable arguments: numbers, pointers, structures, va_copy.
#include <stdarg.h>
#include <stdio.h>

struct Pair {
  long first;
  double second;
};

static double sum(const char *kinds, ...) {
  double total = 0;
  va_list list, again;
  va_start(list, kinds);
  va_copy(again, list);
  for (int pass = 0; pass < 2; ++pass) {
    va_list *arguments = pass ? &again : &list;
    for (const char *kind = kinds; *kind; ++kind)
      switch (*kind) {
      case 'i':
        total += va_arg(*arguments, int);
        break;
      case 'd':
        total += va_arg(*arguments, double);
        break;
      case 'p': {
        const int *values = va_arg(*arguments, const int *);
        for (int i = 0; values[i]; ++i)
          total += values[i];
        break;
      }
      case 's': {
        struct Pair pair = va_arg(*arguments, struct Pair);
        total += (double)pair.first * pair.second;
      }
      }
  }
  va_end(list);
  va_end(again);
  return total;
}

static void join(char *to, int size, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(to, size, format, list);
  va_end(list);
}

int main(void) {
  int values[40] = {0};
  for (int i = 0; i < 39; ++i)
    values[i] = i + 1;
  struct Pair pair = {7, 0.5};
  double total =
      sum("idpsiiiiiiiidddddddddp", 1, 2.5, values, pair, 1, 2, 3, 4, 5, 6, 7,
          8, 1., 2., 3., 4., 5., 6., 7., 8., 9., values + 30);
  char text[80];
  join(text, sizeof(text), "%d-%s-%.3f-%c", 42, "words", 0.125, 'x');
  printf("%.6f %s\n", total, text);
  return total == 2 * (1 + 2.5 + 780 + 3.5 + 36 + 45 + 315) ? 0 : 1;
}
