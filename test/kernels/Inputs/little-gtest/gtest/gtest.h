// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The subset of GoogleTest that the tests of the kernels use, so that the same
// source runs under an emulator, for which no GoogleTest is installed. A test
// that fails goes on; the status shows whether any did.

#ifndef LITTLE_GTEST_H
#define LITTLE_GTEST_H

#include <iostream>
#include <string>
#include <vector>

namespace little {

struct Test {
  const char *name;
  void (*body)();
};

inline std::vector<Test> &tests() {
  static std::vector<Test> all;
  return all;
}
inline int &failures() {
  static int count = 0;
  return count;
}
struct Registration {
  Registration(const char *name, void (*body)()) {
    tests().push_back({name, body});
  }
};

/// Prints what is put into it if \p isRight is false.
class Check {
public:
  Check(bool isRight, const char *file, int line, const char *what)
      : isRight(isRight) {
    if (isRight)
      return;
    ++failures();
    std::cerr << file << ":" << line << ": " << what << " ";
  }
  ~Check() {
    if (!isRight)
      std::cerr << "\n";
  }
  template <typename T> const Check &operator<<(const T &value) const {
    if (!isRight)
      std::cerr << value;
    return *this;
  }

private:
  bool isRight;
};

} // namespace little

#define LITTLE_CHECK(condition)                                                \
  little::Check(condition, __FILE__, __LINE__, #condition)
#define EXPECT_TRUE(a) LITTLE_CHECK(a)
#define EXPECT_EQ(a, b) LITTLE_CHECK((a) == (b))
#define EXPECT_NE(a, b) LITTLE_CHECK((a) != (b))
#define TEST(suite, name)                                                      \
  static void suite##name();                                                   \
  static little::Registration suite##name##Registration(#suite "." #name,      \
                                                        suite##name);          \
  static void suite##name()

#ifndef LITTLE_GTEST_NO_MAIN
int main() {
  for (const little::Test &test : little::tests())
    test.body();
  std::cout << little::tests().size() << " tests, " << little::failures()
            << " failures\n";
  return little::failures() || little::tests().empty();
}
#endif

#endif // LITTLE_GTEST_H
