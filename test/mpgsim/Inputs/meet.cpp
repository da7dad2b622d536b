// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of C++ and pthreads that meet at a barrier, wait for their turn, and
// are joined; twice. One of them ends by pthread_exit.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <thread>

static double data[6][16384];
static pthread_barrier_t barrier;
static std::mutex lock;
static std::condition_variable changed;
static int turn;

static void work(int me) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 16384; ++i)
      data[me][i] += round + me;
    pthread_barrier_wait(&barrier);
    double sum = 0;
    for (int i = 0; i < 16384; ++i)
      sum += data[(me + 1) % 6][i];
    pthread_barrier_wait(&barrier);
    data[me][round] = sum;
  }
  std::unique_lock<std::mutex> held(lock);
  changed.wait(held, [&] { return turn == me; });
  ++turn;
  changed.notify_all();
}

static void *last(void *) {
  work(5);
  pthread_exit(nullptr);
}

int main() {
  pthread_barrier_init(&barrier, nullptr, 6);
  for (int round = 0; round < 2; ++round) {
    turn = 0;
    std::thread all[5];
    for (int me = 0; me < 5; ++me)
      all[me] = std::thread(work, me);
    pthread_t other;
    pthread_create(&other, nullptr, last, nullptr);
    for (std::thread &one : all)
      one.join();
    pthread_join(other, nullptr);
  }
  printf("%.0f %d\n", data[2][1], turn);
  return 0;
}
