// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread that may be refused: by RLIMIT_NPROC, by the pids of a control group
// or for its stack's memory. std::thread says so with an exception only.

#ifndef MPG_SUPPORT_THREAD_H
#define MPG_SUPPORT_THREAD_H

#include <pthread.h>

namespace mpg {

class Thread {
public:
  Thread() = default;
  Thread(const Thread &) = delete;
  Thread &operator=(const Thread &) = delete;

  /// Calls \p work, which has to live until join(), in a thread of its own.
  /// Returns 0 or the errno value for which there is none. Once for each
  /// join().
  template <typename Work> int start(Work &work) {
    int error = pthread_create(
        &thread, nullptr,
        [](void *argument) -> void * {
          (*static_cast<Work *>(argument))();
          return nullptr;
        },
        &work);
    runs = error == 0;
    return error;
  }

  /// Waits for the end of the thread, if there is one.
  void join() {
    if (runs)
      pthread_join(thread, nullptr);
    runs = false;
  }

private:
  pthread_t thread;
  bool runs = false;
};

} // namespace mpg

#endif // MPG_SUPPORT_THREAD_H
