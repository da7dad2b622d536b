// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of the kinds that benchmarks for vectorisers have: over global arrays,
// forwards, backwards, with strides, conditions, sums, and over restrict
// pointers. tag_loops.py compares their code with and without tags.
#define N 32000
#define M 256
typedef float T;
T a[N], b[N], c[N], d[N], e[N], x[N];
T aa[M][M], bb[M][M], cc[M][M];
int indx[N];

void s1(void) {
  for (int i = 0; i < N - 1; i++)
    a[i] = a[i + 1] + b[i];
}
void s2(void) {
  for (int i = 1; i < N; i++)
    a[i] = a[i - 1] + b[i];
}
void s3(int k) {
  for (int i = 0; i < N / 2; i++)
    a[i + k] = a[i] + b[i];
}
void s4(void) {
  for (int i = 0; i < N; i += 2)
    a[i] = a[i - 1] * b[i] + c[i];
}
void s5(void) {
  for (int i = 0; i < N; i++) {
    if (b[i] > 0)
      a[i] = b[i] * c[i];
    else
      a[i] = d[i];
  }
}
void s6(void) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j <= i; j++)
      aa[j][i] = aa[i][j] + bb[j][i];
}
void s7(void) {
  for (int i = 1; i < M - 1; i++)
    for (int j = 1; j < M - 1; j++)
      aa[i][j] = (bb[i][j - 1] + bb[i - 1][j] + bb[i + 1][j] + bb[i][j + 1] +
                  bb[i][j]) *
                 0.2f;
}
void s8(void) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++) {
      T s = 0;
      for (int k = 0; k < M; k++)
        s += aa[i][k] * bb[k][j];
      cc[i][j] = s;
    }
}
T s9(void) {
  T m = a[0];
  for (int i = 0; i < N; i++)
    if (a[i] > m)
      m = a[i];
  return m;
}
T s10(void) {
  T s = 0;
  for (int i = 0; i < N; i++)
    s += a[i] * b[i];
  return s;
}
void s11(void) {
  for (int i = 0; i < N; i++)
    a[indx[i]] += b[i];
}
void s12(void) {
  for (int i = 0; i < N; i++)
    a[i] += b[indx[i]] * c[i];
}
void s13(void) {
  for (int i = 0; i < N - 1; i++) {
    a[i] = b[i] + c[i] * d[i];
    b[i] = c[i] + e[i];
    a[i + 1] = b[i] * d[i];
  }
}
void s14(void) {
  T t = 0;
  for (int i = 0; i < N; i++) {
    t = b[i] * c[i] + t;
    a[i] = t;
  }
}
void s15(int s) {
  for (int i = 0; i < N; i += s)
    a[i] = b[i] + 1;
}
void s16(void) {
  int j = -1;
  for (int i = 0; i < N; i++)
    if (b[i] > 0) {
      j++;
      a[j] = b[i] + d[i] * e[i];
    }
}
void s17(void) {
  for (int i = 0; i < N; i++) {
    T q = b[i] + c[i];
    a[i] = q * d[i];
    e[i] = q * q;
  }
}
void s18(void) {
  for (int i = 1; i < N - 1; i++) {
    a[i] = a[i - 1] * e[i];
    b[i] = b[i - 1] + a[i + 1];
  }
}
void s19(void) {
  for (int nl = 0; nl < 10; nl++)
    for (int i = 0; i < M; i++) {
      aa[i][0] = aa[i][1];
      for (int j = 1; j < M; j++)
        aa[i][j] = aa[i][j - 1] + bb[i][j] * cc[i][j];
    }
}
void s20(void) {
  for (int i = 0; i < N / 5; i++) {
    a[5 * i] += b[i];
    a[5 * i + 1] += c[i];
    a[5 * i + 2] += d[i];
    a[5 * i + 3] += e[i];
    a[5 * i + 4] += x[i];
  }
}
void s21(void) {
  for (int i = N - 1; i >= 0; i--)
    a[i] = b[N - 1 - i] * c[i];
}
void s22(void) {
  for (int i = 0; i < N; i++)
    x[i] = a[i] > b[i] ? c[i] : d[i] + e[i];
}
void l1(long n, double *restrict X, double *restrict Y, double *restrict Z,
        double q, double r, double t) {
  for (long k = 0; k < n; k++)
    X[k] = q + Y[k] * (r * Z[k + 10] + t * Z[k + 11]);
}
void l2(long n, double *restrict X, double *restrict V) {
  long ii = n, p = 0, pe = 0;
  do {
    p = pe;
    pe += ii;
    ii /= 2;
    long i = pe;
    for (long k = p + 1; k < pe; k += 2) {
      i++;
      X[i] = X[k] - V[k] * X[k - 1] - V[k + 1] * X[k + 1];
    }
  } while (ii > 0);
}
double l3(long n, double *restrict Z, double *restrict X) {
  double q = 0;
  for (long k = 0; k < n; k++)
    q += Z[k] * X[k];
  return q;
}
void l5(long n, double *restrict X, double *restrict Y, double *restrict Z) {
  for (long i = 1; i < n; i++)
    X[i] = Z[i] * (Y[i] - X[i - 1]);
}
void l7(long n, double *restrict X, double *restrict Y, double *restrict Z,
        double *restrict U, double r, double t, double q) {
  for (long k = 0; k < n; k++)
    X[k] = U[k] + r * (Z[k] + r * Y[k]) +
           t * (U[k + 3] + r * (U[k + 2] + r * U[k + 1]) +
                t * (U[k + 6] + q * (U[k + 5] + q * U[k + 4])));
}
void l12(long n, double *X, double *Y) {
  for (long k = 0; k < n; k++)
    X[k] = Y[k + 1] - Y[k];
}
void l21(double (*restrict PX)[25], double (*restrict VY)[25],
         double (*restrict CX)[64], long n) {
  for (long k = 0; k < 25; k++)
    for (long i = 0; i < 25; i++)
      for (long j = 0; j < n; j++)
        PX[j][i] += VY[k][i] * CX[j][k];
}
void s23(void) {
  for (int i = N - 2; i >= 0; i--)
    a[i + 1] = a[i] + b[i];
}
void s24(void) {
  for (int i = 1; i < M; i++)
    for (int j = 0; j < M; j++)
      aa[i][j] = aa[i - 1][j] + bb[i][j];
}
void s25(void) {
  for (int i = 1; i < N - 1; i++) {
    a[i] = b[i - 1] + c[i] * d[i];
    b[i] = b[i + 1] - d[i];
  }
}
void s26(void) {
  for (int i = 0; i < N; i++)
    a[i] = a[16000] + b[i];
}
void s27(void) {
  for (int i = 0; i < N - 5; i += 5) {
    a[i] = a[i + 1] * a[i];
    a[i + 1] = a[i + 2] * a[i + 1];
    a[i + 2] = a[i + 3] * a[i + 2];
    a[i + 3] = a[i + 4] * a[i + 3];
    a[i + 4] = a[i + 5] * a[i + 4];
  }
}
void s28(void) {
  int j = -1;
  for (int i = 0; i < N / 2; i++) {
    j++;
    a[j] = b[i] + c[i] * d[i];
    j++;
    a[j] = b[i] + d[i] * e[i];
  }
}
void s29(int n1, int n3) {
  for (int i = n1 - 1; i < N; i += n3)
    a[i] += b[i];
}
void s30(void) {
  for (int i = 0; i < M; ++i)
    for (int j = 1; j < M; j++)
      aa[j][i] = aa[j - 1][i] + bb[j][i];
}
void scale(double *restrict to, const double *restrict from, double s, long n) {
  for (long i = 0; i < n; i++)
    to[i] = s * from[i];
}
