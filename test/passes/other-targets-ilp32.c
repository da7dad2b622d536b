// AArch64 with pointers of 32 bits has no top bits for hints: code stays as it is.
// (clang before 20 makes none: its data layout is not its own back end's.)
// REQUIRES: llvm-22
// DEFINE: %{cc} = %clang -O2 -S -emit-llvm %s
// DEFINE: %{hinted} = env MPG_PASS_OPTIONS=random-hints=1 %{cc} -fpass-plugin=%passes
// RUN: %{cc} --target=aarch64-linux-gnu_ilp32 -o %t.plain.ll
// RUN: %{hinted} --target=aarch64-linux-gnu_ilp32 -o %t.hinted.ll 2>&1 | count 0
// RUN: cmp %t.plain.ll %t.hinted.ll
//
// With 64 bits it has hints.
// RUN: %{cc} --target=aarch64-linux-gnu -o %t.plain.ll
// RUN: %{hinted} --target=aarch64-linux-gnu -o %t.hinted.ll
// RUN: not cmp -s %t.plain.ll %t.hinted.ll
double sum(const double *values, long count) {
  double total = 0;
  for (long i = 0; i < count; ++i)
    total += values[i];
  return total;
}
