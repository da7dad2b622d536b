// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with published counters on A64FX (sim_published.py has the sources),
// written from their descriptions: sizes, arrays, and the order of their loops.
//
//   sim_published helmholtz|moments|pairs CALLS PLACE

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { side = 8, points = side * side * side, factors = 7, elements = 1920 };

typedef double Cube[side][side][side];

/// Spectral elements: out = D^T G D in, with six of the seven factors of each
/// point.
static void helmholtz(const double (*factor)[factors][points],
                      double D[side][side], const Cube *in, Cube *out) {
#pragma omp parallel for schedule(static)
  for (int e = 0; e < elements; ++e) {
    Cube q, r, s, t;
    memcpy(q, in[e], sizeof q);
    for (int k = 0; k < side; ++k)
      for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i) {
          double qr = 0, qs = 0, qt = 0;
          for (int m = 0; m < side; ++m) {
            qr += D[i][m] * q[k][j][m];
            qs += D[j][m] * q[k][m][i];
            qt += D[k][m] * q[m][j][i];
          }
          int at = (k * side + j) * side + i;
          const double (*g)[points] = factor[e];
          r[k][j][i] = g[1][at] * qr + g[2][at] * qs + g[5][at] * qt;
          s[k][j][i] = g[2][at] * qr + g[3][at] * qs + g[4][at] * qt;
          t[k][j][i] = g[5][at] * qr + g[4][at] * qs + g[6][at] * qt;
        }
    for (int k = 0; k < side; ++k)
      for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i) {
          double sum = 0;
          for (int m = 0; m < side; ++m)
            sum += D[m][i] * r[k][j][m] + D[m][j] * s[k][m][i] +
                   D[m][k] * t[m][j][i];
          out[e][k][j][i] = sum;
        }
  }
}

enum { cells = 131 * 131 * 131, particles = 15 };

/// Moments of a distribution on a grid: nineteen streams.
static void moments(const double (*f)[cells], const double (*velocity)[3],
                    double (*v)[cells]) {
#pragma omp parallel for schedule(static)
  for (long at = 0; at < cells; ++at) {
    double sum = 0, x = 0, y = 0, z = 0;
    for (int p = 0; p < particles; ++p) {
      double one = f[p][at];
      sum += one;
      x += one * velocity[p][0];
      y += one * velocity[p][1];
      z += one * velocity[p][2];
    }
    v[0][at] = sum;
    v[1][at] = x;
    v[2][at] = y;
    v[3][at] = z;
  }
}

typedef double Vector __attribute__((vector_size(64), aligned(8)));
enum { width = sizeof(Vector) / sizeof(double) };

/// The same by a compiler that takes two vectors of a stream at a time.
static void pairs(const double (*f)[cells], const double (*velocity)[3],
                  double (*v)[cells]) {
#pragma omp parallel for schedule(static)
  for (long at = 0; at < cells / (2 * width) * (2 * width); at += 2 * width) {
    Vector sums[4][2] = {0};
    for (int p = 0; p < particles; ++p)
      for (int half = 0; half < 2; ++half) {
        Vector one = *(const Vector *)&f[p][at + half * width];
        sums[0][half] += one;
        for (int axis = 0; axis < 3; ++axis)
          sums[axis + 1][half] += one * velocity[p][axis];
      }
    for (int sum = 0; sum < 4; ++sum)
      for (int half = 0; half < 2; ++half)
        *(Vector *)&v[sum][at + half * width] = sums[sum][half];
  }
}

enum { line = 256, way = 16384, page = 2 << 20 };

/// Chooses how the arrays lie to each other in L1, which is not published. 0:
/// each begins in the first set.
static unsigned place, blocks;

static void *filled(size_t bytes) {
  char *block = aligned_alloc(page, (bytes + way + page - 1) / page * page);
  if (!block)
    abort();
  unsigned mixed = place * ++blocks * 0x9e3779b1;
  double *memory = (double *)(block + (mixed >> 16) * line % way);
#pragma omp parallel for schedule(static)
  for (size_t at = 0; at < bytes / 8; ++at)
    memory[at] = (double)(at % 7);
  return memory;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  long calls = strtol(argv[2], NULL, 10);
  place = (unsigned)strtoul(argv[3], NULL, 10);
  double sum = 0;
  if (!strcmp(argv[1], "helmholtz")) {
    double (*factor)[factors][points] = filled(sizeof(*factor) * elements);
    Cube *in = filled(sizeof(Cube) * elements),
         *out = filled(sizeof(Cube) * elements);
    double D[side][side];
    for (int at = 0; at < side * side; ++at)
      D[at / side][at % side] = at % 5;
    for (long call = 0; call < calls; ++call)
      helmholtz(factor, D, in, out);
    sum = out[elements / 2][1][2][3];
  } else {
    double (*f)[cells] = filled(sizeof(*f) * particles);
    double (*v)[cells] = filled(sizeof(*v) * 4);
    double velocity[particles][3];
    for (int at = 0; at < particles * 3; ++at)
      velocity[at / 3][at % 3] = at % 5;
    bool isPaired = !strcmp(argv[1], "pairs");
    for (long call = 0; call < calls; ++call)
      (isPaired ? pairs : moments)((const double (*)[cells])f, velocity, v);
    sum = v[3][cells / 2];
  }
  printf("%g\n", sum);
  return 0;
}
