// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Algorithms of the library over arrays, vectors and own iterators.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <valarray>
#include <vector>

// Walks every step-th element.
template <class T> struct Stride {
  using iterator_category = std::forward_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T *;
  using reference = T &;
  T *place;
  int step;
  T &operator*() const { return *place; }
  Stride &operator++() {
    place += step;
    return *this;
  }
  bool operator==(const Stride &other) const { return place == other.place; }
  bool operator!=(const Stride &other) const { return place != other.place; }
};

int main() {
  std::vector<int64_t> a(2000), b(2000), c;
  std::iota(a.begin(), a.end(), 5);
  for (auto &value : a)
    value = value * 7919 % 2003;
  std::partial_sum(a.begin(), a.end(), b.begin());
  std::nth_element(a.begin(), a.begin() + 700, a.end());
  int64_t nth = a[700];
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end(), std::greater<>());
  std::reverse(b.begin(), b.end());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(c));
  std::rotate(c.begin(), c.begin() + 1234, c.end());
  auto end = std::stable_partition(c.begin(), c.end(),
                                   [](int64_t v) { return v % 3 == 0; });
  std::inplace_merge(a.begin(), a.begin() + 900, a.end());
  int64_t found = std::lower_bound(a.begin(), a.end(), 1000) - a.begin();
  int cells[30][31];
  for (int i = 0; i < 30 * 31; ++i)
    cells[i / 31][i % 31] = i;
  Stride<int> first{&cells[0][7], 31}, last{&cells[0][7] + 30 * 31, 31};
  int column = std::accumulate(first, last, 0);
  std::fill(first, last, -1);
  std::vector<std::complex<double>> z(100, {0.5, -0.25});
  for (size_t i = 1; i < z.size(); ++i)
    z[i] = z[i - 1] * z[i] + std::complex<double>(double(i), 1);
  std::valarray<double> v(300);
  for (size_t i = 0; i < 300; ++i)
    v[i] = double(i);
  v[std::slice(0, 100, 3)] = std::valarray<double>(v[std::slice(1, 100, 2)]);
  v = v.cshift(7) * 2.0 + v;
  std::printf("%ld %ld %ld %ld %ld\n", long(nth), long(found),
              long(end - c.begin()), long(c[17]), long(c[3999]));
  std::printf("%d %d %.10g %.10g\n", column, cells[29][7], std::abs(z[99]),
              v.sum());
  return std::is_sorted(a.begin(), a.end()) && c.size() == 4000 ? 0 : 1;
}
