// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fast Fourier transform in place, with bit reversal and a twiddle table.
#include <complex.h>
#include <math.h>
#include <stdio.h>

enum { size = 512 };
static double complex twiddles[size / 2];

static void reverseBits(double complex *x) {
  for (unsigned i = 1, j = 0; i < size; ++i) {
    unsigned bit = size >> 1;
    for (; j & bit; bit >>= 1)
      j ^= bit;
    j ^= bit;
    if (i < j) {
      double complex t = x[i];
      x[i] = x[j];
      x[j] = t;
    }
  }
}

static void transform(double complex *x, int inverse) {
  reverseBits(x);
  for (int length = 2; length <= size; length *= 2) {
    int half = length / 2, step = size / length;
    for (int start = 0; start < size; start += length)
      for (int k = 0; k < half; ++k) {
        double complex w = twiddles[k * step];
        double complex odd = x[start + k + half] * (inverse ? conj(w) : w);
        x[start + k + half] = x[start + k] - odd;
        x[start + k] += odd;
      }
  }
}

int main(void) {
  double complex x[size], y[size];
  for (int k = 0; k < size / 2; ++k)
    twiddles[k] = cexp(-2 * M_PI * I * k / size);
  for (int i = 0; i < size; ++i)
    x[i] = y[i] = i % 37 - (i * i % 11) * I;
  transform(y, 0);
  double power = 0;
  for (int i = 0; i < size; ++i)
    power += creal(y[i]) * creal(y[i]) + cimag(y[i]) * cimag(y[i]);
  double spectrum = creal(y[3]);
  transform(y, 1);
  double worst = 0;
  for (int i = 0; i < size; ++i)
    worst = fmax(worst, cabs(y[i] / size - x[i]));
  printf("%.12g %.12g\n", power, spectrum);
  return worst < 1e-12 ? 0 : 1;
}
