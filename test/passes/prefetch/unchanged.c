// Where nothing is prefetched the code stays the same, to the order of uses in its bitcode, also around
// loops without a block of their own in front.
// DEFINE: %{options} = verify=on
// DEFINE: %{more} =
// DEFINE: %{name} = plain
// DEFINE: %{target} = --target=x86_64-linux-gnu
// DEFINE: %{cc} = env MPG_PASS_OPTIONS=%{options} %clang %{target} -O3 -fpass-plugin=%passes %{more} -emit-llvm -Xclang -emit-llvm-uselists -c %s -o %t.%{name}
// RUN: %{cc}
// REDEFINE: %{options} = verify=on,prefetch-indirect=32
// REDEFINE: %{name} = with
// RUN: %{cc} && cmp %t.plain %t.with
// REDEFINE: %{more} = -DLOOKUP
// RUN: %{cc} && not cmp %t.plain %t.with
// REDEFINE: %{target} = --target=aarch64-linux-gnu -mcpu=a64fx
// REDEFINE: %{more} =
// RUN: %{cc}
// REDEFINE: %{options} = verify=on
// REDEFINE: %{name} = plain
// RUN: %{cc} && cmp %t.plain %t.with
void smooth(int steps, int n, double *a, double *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) b[i] = 0.33 * (a[i - 1] + a[i] + a[i + 1]);
    for (int i = 1; i < n - 1; i++) a[i] = 0.33 * (b[i - 1] + b[i] + b[i + 1]);
  }
}
// Begins at several numbers, and its lookups get no prefetches, as it may end early.
long find(const int *list, const int *table, long way, long i, long n) {
  switch (way) {
  case 0: i = n / 2; break;
  case 3: i = 3; break;
  case 5: i = -n; break;
  }
  do {
    if (table[list[i]] == way) return i;
    i += way;
  } while (i < n);
  return -1;
}
#ifdef LOOKUP
void count(int *table, const int *list, long n) {
  for (long i = 0; i < n; i++) table[list[i]]++;
}
#endif
