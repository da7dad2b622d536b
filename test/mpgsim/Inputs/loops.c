/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loops that can be summed up and loops that cannot: triangles, steps
 * backwards, several exits, conditions, gathers, structs, copies, loops that
 * run once or never.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline)) static
enum { size = 96 };
struct Point {
  double x, y, z;
  char name[9];
};
static double matrix[size][size], vector[size], other[size];
static struct Point points[size];
static int links[size];

APART void triangle(int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      vector[i] += matrix[i][j] * other[j];
}

APART void backwards(int n, int step) {
  for (int i = n - 1; i >= 0; i -= step)
    other[i] += vector[i] + matrix[i][i];
}

APART int until(double limit) {
  for (int i = 0; i < size; ++i)
    if (vector[i] > limit)
      return i;
  return -1;
}

APART double sometimes(void) {
  double sum = 0;
  for (int i = 0; i < size; ++i)
    if (links[i] & 1)
      sum += vector[i];
    else
      other[i] = sum;
  return sum;
}

APART double chased(int rounds) {
  double sum = 0;
  for (int i = 0, at = 0; i < rounds; ++i, at = links[at])
    sum += vector[at];
  return sum;
}

APART void members(int first, int last) {
  for (int i = first; i < last; ++i) {
    points[i].x += points[i].y * vector[i];
    points[i].name[i % 9] ^= 1;
  }
}

APART void moved(unsigned n) {
  memmove(vector + 1, vector, (n % 64) * sizeof(double));
  memset(points, 0, n % sizeof(points));
  memcpy(other, matrix[n % size], sizeof(other));
}

APART void columns(double (*a)[size], const double (*b)[size], long n) {
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i)
      a[i][j] = b[j][i] * 0.5 + a[n - 1 - i][j];
}

APART void bytes(uint8_t *text, size_t n) {
  for (size_t i = 0; i < n; ++i)
    text[i] = (uint8_t)(text[i] * 3 + 1);
}

int main(void) {
  double (*copy)[size] = malloc(sizeof(matrix));
  if (!copy)
    return 1;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      copy[i][j] = matrix[i][j] = (i * 7 + j * 3) % 11;
  for (int i = 0; i < size; ++i)
    links[i] = (i * 37 + 5) % size;
  for (int n = 0; n < size; n += 31) {
    triangle(n);
    backwards(n, 1 + n % 3);
    members(n / 2, n);
    moved((unsigned)n * 17);
    columns(matrix, (const double (*)[size])copy, n);
    bytes((uint8_t *)copy, (size_t)n * 5);
  }
  printf("%d %g %g %g\n", until(50), sometimes(), chased(500),
         points[20].x + other[7] + matrix[3][4]);
  free(copy);
  return 0;
}
