// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Virtual functions, multiple and virtual bases, dynamic_cast, member pointers.
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

struct Named {
  char name[8] = "";
  virtual ~Named() = default;
  virtual int code() const { return name[0]; }
};
struct Shape : virtual Named {
  double sides[4] = {0, 0, 0, 0};
  int count = 0;
  virtual double area() const = 0;
  double around() const {
    double sum = 0;
    for (int i = 0; i < count; ++i)
      sum += sides[i];
    return sum;
  }
};
struct Weight : virtual Named {
  double parts[16];
  virtual double weight() const {
    double sum = 0;
    for (double part : parts)
      sum += part;
    return sum;
  }
};
struct Box : Shape, Weight {
  Box(double a, double b) {
    count = 4;
    name[0] = 'b';
    for (int i = 0; i < 4; ++i)
      sides[i] = i % 2 ? a : b;
    for (int i = 0; i < 16; ++i)
      parts[i] = a * i - b;
  }
  double area() const override { return sides[0] * sides[1]; }
  int code() const override { return Named::code() + count; }
};
struct Triangle final : Shape {
  Triangle(double a, double b, double c) {
    count = 3;
    name[0] = 't';
    sides[0] = a, sides[1] = b, sides[2] = c;
  }
  double area() const override {
    double s = around() / 2;
    return std::sqrt(s * (s - sides[0]) * (s - sides[1]) * (s - sides[2]));
  }
};

int main() {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 1; i <= 300; ++i) {
    if (i % 3)
      shapes.push_back(std::make_unique<Box>(i, i % 7 + 1));
    else
      shapes.push_back(std::make_unique<Triangle>(i, i + 1, i + 2));
  }
  double (Shape::*measures[])() const = {&Shape::area, &Shape::around};
  double sums[3] = {0, 0, 0};
  int codes = 0, boxes = 0;
  for (const auto &shape : shapes) {
    for (int i = 0; i < 2; ++i)
      sums[i] += (shape.get()->*measures[i])();
    codes += shape->code();
    if (auto *weight = dynamic_cast<const Weight *>(shape.get())) {
      sums[2] += weight->weight();
      ++boxes;
    }
  }
  std::printf("%.10g %.10g %.10g %d %d\n", sums[0], sums[1], sums[2], codes,
              boxes);
  return boxes == 200 ? 0 : 1;
}
