// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Templates: lazily evaluated vector expressions, fixed matrices, recursion.
#include <array>
#include <cstdio>
#include <vector>

template <class E> struct Expression {
  const E &self() const { return static_cast<const E &>(*this); }
};
struct Vector : Expression<Vector> {
  std::vector<double> values;
  explicit Vector(size_t n) : values(n) {}
  double operator[](size_t i) const { return values[i]; }
  double &operator[](size_t i) { return values[i]; }
  template <class E> Vector &operator=(const Expression<E> &e) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = e.self()[i];
    return *this;
  }
};
template <class A, class B, class F>
struct Binary : Expression<Binary<A, B, F>> {
  const A &a;
  const B &b;
  Binary(const A &a, const B &b) : a(a), b(b) {}
  double operator[](size_t i) const { return F()(a[i], b[i]); }
};
struct Plus {
  double operator()(double x, double y) const { return x + y; }
};
struct Times {
  double operator()(double x, double y) const { return x * y; }
};
template <class A, class B>
Binary<A, B, Plus> operator+(const Expression<A> &a, const Expression<B> &b) {
  return {a.self(), b.self()};
}
template <class A, class B>
Binary<A, B, Times> operator*(const Expression<A> &a, const Expression<B> &b) {
  return {a.self(), b.self()};
}

template <class T, int N> using Matrix = std::array<std::array<T, N>, N>;
template <class T, int N>
Matrix<T, N> multiply(const Matrix<T, N> &a, const Matrix<T, N> &b) {
  Matrix<T, N> c{};
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < N; ++k)
      for (int j = 0; j < N; ++j)
        c[i][j] += a[i][k] * b[k][j];
  return c;
}
template <class T, int N> Matrix<T, N> power(const Matrix<T, N> &a, int n) {
  if (n == 1)
    return a;
  Matrix<T, N> half = power<T, N>(a, n / 2);
  half = multiply<T, N>(half, half);
  return n % 2 ? multiply<T, N>(half, a) : half;
}

int main() {
  Vector a(777), b(777), c(777);
  for (size_t i = 0; i < 777; ++i) {
    a[i] = double(i % 10);
    b[i] = double(i % 4) - 1;
    c[i] = 0.5;
  }
  c = a * b + c * a + b;
  a = a + c; // the target is in the expression
  double sum = 0;
  for (size_t i = 0; i < 777; ++i)
    sum += a[i] * double(i % 3) - c[i];
  Matrix<unsigned long, 2> fibonacci{{{1, 1}, {1, 0}}};
  Matrix<unsigned, 5> wide{};
  for (int i = 0; i < 25; ++i)
    wide[i / 5][i % 5] = i * 7 + 1;
  unsigned trace = 0;
  auto high = power<unsigned, 5>(wide, 23);
  for (int i = 0; i < 5; ++i)
    trace += high[i][i];
  auto number = power<unsigned long, 2>(fibonacci, 80)[0][1];
  std::printf("%.10g %u %lu\n", sum, trace, number);
  return number == 23416728348467685ul ? 0 : 1;
}
