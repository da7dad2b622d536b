// Loops that run zero times, once, or without an end, and those that an exception or
// longjmp leaves, compute the same with lines zeroed and prefetched in all of them, with
// sectors, and with stores past the caches. Memory that a loop does not write to keeps its values.
// REQUIRES: qemu-aarch64, aarch64-linux-gnu-gcc, aarch64-linux-gnu-g++
// RUN: cd %t
// RUN: %plain-c -O1 -c %inputs/sector_calls.c -o calls.o
// DEFINE: %{level} = -O2
// DEFINE: %{options} = zfill=1,test-zfill=always,prefetch=far,prefetch-line=1,prefetch-line-l2=500,prefetch-indirect=3,sector=auto,random-hints=4,verify=on
// DEFINE: %{forced} = env MPG_PASS_OPTIONS=%{options} %hinted-cxx -std=c++20 -mcpu=a64fx %{level} -c %s -o forced.o && aarch64-linux-gnu-g++ -static forced.o calls.o -o forced && qemu-aarch64 -cpu a64fx ./forced | diff plain.out -
// RUN: %plain-cxx -std=c++20 -O1 -c %s -o plain.o && aarch64-linux-gnu-g++ -static plain.o -o plain && qemu-aarch64 -cpu a64fx ./plain > plain.out
// RUN: FileCheck %s < plain.out && %{forced}
// REDEFINE: %{level} = -O3
// RUN: %{forced}
// REDEFINE: %{level} = -Os
// RUN: %{forced}
// RUN: %if host-x86_64 %{ env MPG_PASS_OPTIONS=stream-stores=on,test-large=always,prefetch-indirect=3,verify=on %clangxx -std=c++20 -O2 -fpass-plugin=%passes %s -o native && ./native | diff plain.out - %}
#include <csetjmp>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <vector>
#define LOOP __attribute__((noinline)) static void
using Numbers = std::vector<double>;
static std::jmp_buf place;

LOOP scale(Numbers &a, const Numbers &b) {
  for (size_t i = 0; i < a.size(); i++) a[i] = 2 * b[i];
}
LOOP add(std::span<double> a, std::span<const double> b, std::span<const double> c) {
  for (size_t i = 0; i < a.size(); i++) a[i] = b[i] + c[i];
}
LOOP once(double *a, long n) {
  long i = 0;
  do a[i] = 4;
  while (++i < n);
}
LOOP checked(Numbers &a, const Numbers &b) {
  for (size_t i = 0; i < a.size(); i++) a.at(i) = b.at(i) + 1;
}
LOOP thrown(double *a, long n, long bad) {
  for (long i = 0; i < n; i++) {
    if (i == bad) throw i;
    a[i] = 5;
  }
}
LOOP jumped(double *a, const double *b, const int *x, long n, long bad) {
  for (long i = 0; i < n; i++) {
    if (i == bad) std::longjmp(place, 1);
    a[i] = b[x[i]] + 6;
  }
}
LOOP endless(double *a, long last) {
  for (long i = 0;; i++) {
    a[i] = 7;
    if (i == last) throw i;
  }
}
LOOP endlessRows(const double *a, const double *b, double *sum, int rounds) {
  for (;;) {
    for (int i = 0; i < 300; i++) *sum += a[i] * b[i];
    if (!rounds--) std::longjmp(place, 2);
  }
}

static void print(const char *what, const Numbers &a) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); i++) sum += a[i] * double(i % 97 + 1);
  std::printf("%s %zu: %.17g\n", what, a.size(), sum);
}

static void run(long n) {
  Numbers a(n, 3), b(n);
  std::vector<int> x(n);
  for (long i = 0; i < n; i++) b[i] = double(i) / 2, x[i] = int(i * 7919 % n);
  scale(a, b), print("scale", a);
  add(a, a, b), print("add", a);
  if (n) once(a.data(), n), print("once", a);
  try {
    checked(a, Numbers(n / 2, 1));
  } catch (std::exception &) { print("checked", a); }
  for (long bad : {0L, n / 2, n - 1, n + 1}) {
    try {
      thrown(a.data(), n, bad);
    } catch (long) { print("thrown", a); }
    if (!setjmp(place)) jumped(a.data(), b.data(), x.data(), n, bad);
    print("jumped", a);
  }
  if (n < 1000) return;
  try {
    endless(a.data(), n - 7);
  } catch (long) { print("endless", a); }
  static double sum;
  if (!setjmp(place)) endlessRows(a.data(), b.data(), &sum, 2);
  std::printf("endless rows %.17g\n", sum);
}

int main() {
  // CHECK: scale 0: 0
  // CHECK: once 1: 4
  // CHECK: checked 1100:
  // CHECK: endless 1100:
  // CHECK-NEXT: endless rows
  for (long n : {0, 1, 2, 33, 1100}) run(n);
}
