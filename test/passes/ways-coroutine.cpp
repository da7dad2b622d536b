// A coroutine suspends, and its caller would continue with the coroutine's ways: none are
// set, with a warning.
// RUN: %hinted-cxx -std=c++20 -O2 -S -emit-llvm %s -o %t.ll 2> %t.txt
// RUN: FileCheck %s --input-file=%t.txt
// RUN: FileCheck %s --check-prefix=CODE --input-file=%t.ll
// CODE-NOT: call {{.*}}mpg_sector_begin
#include <mpg/hints.h>
namespace std {
template <class Result, class...> struct coroutine_traits {
  using promise_type = typename Result::promise_type;
};
template <class = void> struct coroutine_handle {
  static coroutine_handle from_address(void *) noexcept { return {}; }
  operator coroutine_handle<>() const noexcept { return {}; }
};
struct suspend_always {
  bool await_ready() noexcept { return false; }
  void await_suspend(coroutine_handle<>) noexcept {}
  void await_resume() noexcept {}
};
} // namespace std
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
void step();
// CHECK: warning: {{.*}}ways-coroutine.cpp:[[#@LINE+1]]: no ways are set: a coroutine suspends
MPG_WAYS(l2=4) Task work() {
  step();
  co_return;
}
