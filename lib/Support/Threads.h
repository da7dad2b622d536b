// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread that may be refused, and work for each index on several of them: the
// results are handed over in order of index, so that output does not depend on
// the thread count. At most a window of results waits, so that one slow piece
// does not make the others pile up in memory.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <vector>

namespace mpg {

/// A thread that may be refused: by RLIMIT_NPROC, by the pids of a control
/// group or for its stack's memory. std::thread says so with an exception only.
class Thread {
public:
  Thread() = default;
  Thread(const Thread &) = delete;
  Thread &operator=(const Thread &) = delete;

  /// Calls \p work, which has to live until join(), in a new thread.
  /// Returns 0, or the errno value if the thread cannot start. Once for
  /// each join().
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

/// Calls work(i) for i in [0, count) on \p threads threads and emit(result) on
/// the calling thread, in order. \p work must be safe to call concurrently.
/// Where the system refuses threads, those that there are do the work, and the
/// calling thread if there is none.
template <typename Result, typename Work, typename Emit>
void orderedParallel(size_t count, unsigned threads, Work work, Emit emit) {
  const size_t window = 64 * size_t(threads);
  std::mutex mutex;
  std::condition_variable finished, drained;
  std::vector<std::optional<Result>> slots(window);
  size_t next = 0, emitted = 0;

  auto worker = [&] {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      drained.wait(lock,
                   [&] { return next >= count || next < emitted + window; });
      if (next >= count)
        return;
      size_t index = next++;
      lock.unlock();
      Result result = work(index);
      lock.lock();
      slots[index % window] = std::move(result);
      finished.notify_one();
    }
  };
  std::deque<Thread> pool; // which does not move them
  if (threads > 1 && count > 1)
    while (pool.size() < threads)
      if (pool.emplace_back().start(worker)) {
        pool.pop_back();
        break;
      }
  if (pool.empty()) {
    for (size_t i = 0; i < count; ++i)
      emit(work(i));
    return;
  }

  for (size_t i = 0; i < count; ++i) {
    std::unique_lock<std::mutex> lock(mutex);
    finished.wait(lock, [&] { return slots[i % window].has_value(); });
    Result result = std::move(*slots[i % window]);
    slots[i % window].reset();
    ++emitted;
    lock.unlock();
    drained.notify_all();
    emit(std::move(result));
  }
  for (Thread &thread : pool)
    thread.join();
}

} // namespace mpg
