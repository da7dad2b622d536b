// More arrays than the L1 cache has ways, all beginning in one set, make a loop miss at
// every access: told where the compiler knows how they will lie, with both remedies.
// RUN: %hinted-c -O2 -fopenmp -g -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.a64fx
// RUN: FileCheck %s --check-prefix=A64FX --implicit-check-not=remark: --input-file=%t.a64fx
// Caches of most other processors have 8 ways of 4 KiB.
// RUN: %clang --target=x86_64-linux-gnu -fpass-plugin=%passes -O2 -fopenmp -g -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.x86
// RUN: FileCheck %s --check-prefix=X86 --implicit-check-not=remark: --input-file=%t.x86
typedef unsigned long size_t;
void *malloc(size_t);
void use(double *, double *, double *, double *, double *);

// Nine arrays of 512 KiB.
double a[65536], b[65536], c[65536], d[65536], e[65536], f[65536], g[65536], h[65536],
    k[65536];
void five(void) {
  // A64FX: :[[#@LINE+1]]:{{.*}} traverses 5 places at once, in {{.*}}, that are equal modulo 16384 bytes{{.*}}4 lines: pad {{.*}} begins 256 bytes further on [-Rpass
#pragma omp parallel for
  for (int i = 0; i < 65536; i++)
    a[i] = b[i] + c[i] + d[i] * e[i];
}
void nine(void) {
  // A64FX: :[[#@LINE+2]]:{{.*}} traverses 9 places at once, in {{.*}}, that are equal modulo 16384 bytes
  // X86: :[[#@LINE+1]]:{{.*}} traverses 9 places at once, in {{.*}}, that are equal modulo 4096 bytes
  for (int i = 0; i < 65536; i++)
    a[i] = b[i] + c[i] + d[i] * e[i] - f[i] * g[i] - h[i] * k[i];
}
// As many as there are ways; neighbours of one array are in one line.
void four(void) {
#pragma omp parallel for
  for (int i = 1; i < 65535; i++)
    a[i] = b[i] + c[i - 1] + c[i] + c[i + 1] + d[i];
}
// Walks that use each line once keep no line anyway.
void long_steps(void) {
  for (int i = 0; i < 65536; i += 64)
    a[i] = b[i] + c[i] + d[i] * e[i];
}
// Different indices.
void other_indices(const int *x) {
  for (int i = 0; i < 4096; i++)
    a[i] = b[x[0] + i] + c[x[1] + i] + d[x[2] + i] * e[x[3] + i];
}

// A line of padding in each.
double a1[65536 + 32], b1[65536 + 32], c1[65536 + 32], d1[65536 + 32], e1[65536 + 32],
    f1[65536 + 32], g1[65536 + 32], h1[65536 + 32], k1[65536 + 32];
void nine_padded(void) {
  for (int i = 0; i < 65536; i++)
    a1[i] = b1[i] + c1[i] + d1[i] * e1[i] - f1[i] * g1[i] - h1[i] * k1[i];
}

// Large blocks of malloc, which begin behind a page's start, and small ones.
void blocks(int n) {
  double *p = malloc(524288), *q = malloc(524288), *r = malloc(524288), *s = malloc(524288),
         *t = malloc(524288);
  use(p, q, r, s, t);
  // A64FX: :[[#@LINE+1]]:{{.*}} traverses 5 places at once{{.*}}link libmpg, whose malloc
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    p[i] = q[i] + r[i] + s[i] * t[i];
}
void small_blocks(int n) {
  double *p = malloc(32768), *q = malloc(32768), *r = malloc(32768), *s = malloc(32768),
         *t = malloc(32768);
  use(p, q, r, s, t);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    p[i] = q[i] + r[i] + s[i] * t[i];
}
// Nobody knows where they are.
void arguments(double *p, double *q, double *r, double *s, double *t, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    p[i] = q[i] + r[i] + s[i] * t[i];
}
// Rows of one array are as bad as arrays, unless they are padded.
double rows[16][2048], padded_rows[16][2048 + 32];
void columns(void) {
  // A64FX: :[[#@LINE+1]]:{{.*}} traverses 5 places at once, in rows, that are equal
  for (int i = 0; i < 2048; i++)
    rows[8][i] = rows[2][i] + rows[3][i] + rows[4][i] * rows[5][i];
}
void padded_columns(void) {
  for (int i = 0; i < 2048; i++)
    padded_rows[8][i] = padded_rows[2][i] + padded_rows[3][i] +
                        padded_rows[4][i] * padded_rows[5][i];
}
