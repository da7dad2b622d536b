// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that share vectors: a queue, atomics, futures, a parallel sum.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Queue {
public:
  void push(std::vector<int> work) {
    std::lock_guard<std::mutex> hold(lock);
    waiting.push(std::move(work));
    changed.notify_one();
  }
  std::vector<int> pop() {
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold, [this] { return !waiting.empty(); });
    std::vector<int> work = std::move(waiting.front());
    waiting.pop();
    return work;
  }

private:
  std::mutex lock;
  std::condition_variable changed;
  std::queue<std::vector<int>> waiting;
};

static std::atomic<long> total{0};
static std::vector<long> sums(64);

static void consume(Queue &queue) {
  for (;;) {
    std::vector<int> work = queue.pop();
    if (work.empty())
      return;
    long sum = 0;
    for (int value : work)
      sum += long(value) * value;
    sums[work[0] % 64] = sum;
    total += sum;
  }
}

int main() {
  Queue queue;
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i)
    workers.emplace_back(consume, std::ref(queue));
  for (int i = 0; i < 64; ++i) {
    std::vector<int> work(100 + i);
    for (size_t k = 0; k < work.size(); ++k)
      work[k] = int(i + 64 * k);
    queue.push(std::move(work));
  }
  for (int i = 0; i < 3; ++i)
    queue.push({});
  for (auto &worker : workers)
    worker.join();
  std::vector<std::future<long>> parts;
  for (int i = 0; i < 4; ++i)
    parts.push_back(std::async(std::launch::async, [i] {
      long sum = 0;
      for (int k = 16 * i; k < 16 * (i + 1); ++k)
        sum += sums[k];
      return sum;
    }));
  long again = 0;
  for (auto &part : parts)
    again += part.get();
  std::printf("%ld %ld\n", total.load(), again);
  return total == again ? 0 : 1;
}
