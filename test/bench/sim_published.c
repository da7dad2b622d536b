// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with published counters on A64FX (sim_published.py has the sources),
// written from their descriptions: sizes, arrays, and the order of their loops.
//
//   sim_published helmholtz|moments|pairs|triad|bodies|gather|conflict|reuse|
//       stream CALLS PLACE

#include <omp.h>
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

static double runHelmholtz(long calls) {
  double (*factor)[factors][points] = filled(sizeof(*factor) * elements);
  Cube *in = filled(sizeof(Cube) * elements),
       *out = filled(sizeof(Cube) * elements);
  double D[side][side];
  for (int at = 0; at < side * side; ++at)
    D[at / side][at % side] = at % 5;
  for (long call = 0; call < calls; ++call)
    helmholtz(factor, D, in, out);
  return out[elements / 2][1][2][3];
}

typedef void Moments(const double (*f)[cells], const double (*velocity)[3],
                     double (*v)[cells]);

static double runMoments(Moments *kernel, long calls) {
  double (*f)[cells] = filled(sizeof(*f) * particles);
  double (*v)[cells] = filled(sizeof(*v) * 4);
  double velocity[particles][3];
  for (int at = 0; at < particles * 3; ++at)
    velocity[at / 3][at % 3] = at % 5;
  for (long call = 0; call < calls; ++call)
    kernel((const double (*)[cells])f, velocity, v);
  return v[3][cells / 2];
}

/// Three arrays that L2 holds.
static double runTriad(long calls) {
  enum { count = 196608 };
  double *a = filled(count * 8), *b = filled(count * 8), *c = filled(count * 8);
  for (long call = 0; call < calls; ++call)
#pragma omp parallel for schedule(static)
    for (long at = 0; at < count; ++at)
      a[at] = b[at] + 3 * c[at];
  return a[count / 2];
}

enum { bodies = 2048 };

typedef struct {
  float x, y, z, m;
} Body;

typedef struct {
  float x, y, z;
} Acceleration;

/// Gravity of all bodies on each, from a copy with an array for each member.
static void attract(const Body *body, Acceleration *acceleration) {
  float x[bodies], y[bodies], z[bodies], m[bodies];
  for (int at = 0; at < bodies; ++at) {
    x[at] = body[at].x;
    y[at] = body[at].y;
    z[at] = body[at].z;
    m[at] = body[at].m;
  }
  for (int on = 0; on < bodies; ++on) {
#pragma clang fp reassociate(on)
    Acceleration sum = {0, 0, 0};
    for (int by = 0; by < bodies; ++by) {
      float dx = body[on].x - x[by], dy = body[on].y - y[by],
            dz = body[on].z - z[by];
      float pull = m[by] / (dx * dx + dy * dy + dz * dz + 1);
      sum.x -= pull * dx;
      sum.y -= pull * dy;
      sum.z -= pull * dz;
    }
    acceleration[on] = sum;
  }
}

/// Each thread has its own bodies.
static double runBodies(long calls) {
  int threads = omp_get_max_threads();
  Body(*body)[bodies] = filled(sizeof(*body) * threads);
  Acceleration(*acceleration)[bodies] = filled(sizeof(*acceleration) * threads);
#pragma omp parallel
  for (long call = 0, own = omp_get_thread_num(); call < calls; ++call)
    attract(body[own], acceleration[own]);
  return acceleration[0][bodies / 2].x;
}

/// Two streams, and random elements of a table of 2 MiB, then one of 4 MiB.
static double runGather(long calls) {
  enum { count = 4 << 20 };
  double sum = 0;
  for (unsigned size = 512 << 10; size <= 1 << 20; size *= 2) {
    float *table = filled(size * 4), *values = filled((size_t)count * 4);
    unsigned *places = filled((size_t)count * 4), random = 1;
    for (long at = 0; at < count; ++at) {
      random ^= random << 13;
      random ^= random >> 17;
      random ^= random << 5;
      places[at] = random & (size - 1);
    }
    for (long call = 0; call < calls; ++call)
      for (long at = 0; at < count; ++at)
        sum += (double)values[at] * table[places[at]];
  }
  return sum;
}

static long chase(const long *next, long lines) {
  long at = 0;
  for (long step = 0; step < 4 * lines; ++step)
    at = next[at];
  return at;
}

/// A chain through 32 KiB, 96 KiB read once, the chain again: 500 times.
static double runConflict(long calls) {
  enum { kept = 128, read = 96 * 1024 / 8, words = line / 8 };
  long *chain = filled(kept * line + read * 8),
       *evicting = chain + kept * words;
  volatile long sum = 0;
  for (long at = 0; at < kept; ++at) // each line once, not in order
    chain[at * 53 % kept * words] = (at + 1) * 53 % kept * words;
  for (long pass = 0; pass < calls * 500; ++pass) {
    long own = chase(chain, kept);
    for (long at = 0; at < read; ++at)
      own += evicting[at];
    sum += own + chase(chain, kept);
  }
  return (double)sum;
}

static double sumUp(const double *data, long bytes) {
  double sum = 0;
  for (long at = 0; at < bytes / 8; ++at)
    sum += data[at];
  return sum;
}

/// 256 KiB, with 24 KiB before and after them if \p reuses.
static double runStream(int reuses, long calls) {
  enum { streamed = 256 << 10, reused = 24 << 10 };
  double *data = filled(streamed), *own = filled(reused);
  volatile double sum = 0;
  for (long pass = 0; pass < calls * (reuses ? 100 : 200); ++pass) {
    sum += reuses ? sumUp(own, reused) : 0;
    sum += sumUp(data, streamed);
    sum += reuses ? sumUp(own, reused) : 0;
  }
  return sum;
}

static double run(const char *kernel, long calls) {
  if (!strcmp(kernel, "helmholtz"))
    return runHelmholtz(calls);
  if (!strcmp(kernel, "moments"))
    return runMoments(moments, calls);
  if (!strcmp(kernel, "pairs"))
    return runMoments(pairs, calls);
  if (!strcmp(kernel, "triad"))
    return runTriad(calls);
  if (!strcmp(kernel, "bodies"))
    return runBodies(calls);
  if (!strcmp(kernel, "gather"))
    return runGather(calls);
  if (!strcmp(kernel, "conflict"))
    return runConflict(calls);
  return runStream(!strcmp(kernel, "reuse"), calls);
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  place = (unsigned)strtoul(argv[3], NULL, 10);
  printf("%g\n", run(argv[1], strtol(argv[2], NULL, 10)));
  return 0;
}
