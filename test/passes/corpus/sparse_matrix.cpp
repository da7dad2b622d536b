// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sparse matrix class: built from triples, multiplied, solved by gradients.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

using Values = std::vector<double>;

class Sparse {
public:
  Sparse(int rows, std::vector<std::tuple<int, int, double>> triples)
      : starts(rows + 1) {
    std::sort(triples.begin(), triples.end());
    for (const auto &[row, column, value] : triples) {
      ++starts[row + 1];
      columns.push_back(column);
      values.push_back(value);
    }
    for (int i = 0; i < rows; ++i)
      starts[i + 1] += starts[i];
  }
  void multiply(const Values &x, Values &y) const {
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      double sum = 0;
      for (int k = starts[i]; k < starts[i + 1]; ++k)
        sum += values[k] * x[columns[k]];
      y[i] = sum;
    }
  }

private:
  std::vector<int> starts, columns;
  Values values;
};

static double dot(const Values &a, const Values &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

static void add(Values &y, double by, const Values &x) {
  for (size_t i = 0; i < y.size(); ++i)
    y[i] += by * x[i];
}

int main() {
  const int side = 20, n = side * side;
  std::vector<std::tuple<int, int, double>> triples;
  for (int i = n - 1; i >= 0; --i) {
    triples.emplace_back(i, i, 4.5);
    for (int step : {-side, -1, 1, side})
      if (i + step >= 0 && i + step < n)
        triples.emplace_back(i, i + step, -1.0);
  }
  Sparse a(n, triples);
  Values x(n), b(n), r, p, ap(n);
  for (int i = 0; i < n; ++i)
    b[i] = i % 7 - 2;
  r = p = b;
  int steps = 0;
  for (double rr = dot(r, r); rr > 1e-20 && steps < 200; ++steps) {
    a.multiply(p, ap);
    double alpha = rr / dot(p, ap);
    add(x, alpha, p);
    add(r, -alpha, ap);
    double now = dot(r, r);
    for (int i = 0; i < n; ++i)
      p[i] = r[i] + now / rr * p[i];
    rr = now;
  }
  a.multiply(x, ap);
  double worst = 0;
  for (int i = 0; i < n; ++i)
    worst = std::max(worst, std::fabs(ap[i] - b[i]));
  std::printf("%d %.8f\n", steps, x[n / 2]);
  return worst < 1e-8 ? 0 : 1;
}
