// The size of a std::vector is that of its object, wherever that is.
// RUN: env MPG_PASS_OPTIONS=sector=auto,verify=on %hinted-cxx -O2 -g -Rpass=mpg -Rpass-missed=mpg -S -emit-llvm %s -o %t.ll 2> %t.said
// RUN: FileCheck %s --check-prefix=SAID < %t.said && FileCheck %s --input-file=%t.ll
#include <cstddef>
#include <vector>
using std::size_t;
// The end of the table is loaded in front of the loop, beside its begin.
// CHECK-LABEL: define {{.*}} @_Z3sum
// CHECK: call {{.*}}@mpg_sector_begin
// CHECK: call {{.*}}@mpg_sector_end
double sum(const std::vector<int> &at, const std::vector<double> &values, const std::vector<double> &table) {
  double sum = 0;
  // SAID-DAG: vector.cpp:[[#@LINE+1]]:3: remark: sector 1 gets 1 of 14 ways of L2 for {{.*}}, used once, beside {{.*}}, if the sizes fit when it runs
  for (size_t i = 0; i < values.size(); i++)
    sum += table[at[i]] * values[i];
  return sum;
}
// Its own vector.
double lookup(const std::vector<int> &at, const std::vector<double> &values, size_t size) {
  std::vector<double> table(size, 2.0);
  double sum = 0;
  // SAID-DAG: vector.cpp:[[#@LINE+1]]:3: remark: sector 1 gets 1 of 14 ways of L2
  for (size_t i = 0; i < values.size(); i++)
    sum += table[at[i]] * values[i];
  return sum;
}
// A pointer has no size.
double pointer(const std::vector<int> &at, const std::vector<double> &values, const double *table) {
  double sum = 0;
  // SAID-DAG: vector.cpp:[[#@LINE+1]]:3: remark: {{.*}}: the size of what is used again is not known in front of it
  for (size_t i = 0; i < values.size(); i++)
    sum += table[at[i]] * values[i];
  return sum;
}
