// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A signal handler that walks arrays, called in the middle of a loop.
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { count = 256 };
static int history[count];
static volatile sig_atomic_t used, caught;
static const int *watched;

static void handler(int number) {
  int sum = number == SIGUSR1 ? 0 : 1000000;
  for (int i = 0; i < count; ++i)
    sum += watched[i];
  history[used++ % count] = sum;
  ++caught;
}

__attribute__((noinline)) static void fill(int *data, int round) {
  for (int i = 0; i < count; ++i) {
    data[i] = i * round;
    if (i % 64 == 63)
      raise(round % 2 ? SIGUSR1 : SIGUSR2);
  }
}

int main(void) {
  int data[count] = {0};
  watched = data;
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = handler;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  for (int round = 0; round < 20; ++round)
    fill(data, round);
  long mix = 0;
  for (int i = 0; i < used; ++i)
    mix = mix * 3 % 1000003 + history[i];
  printf("%d signals, %ld\n", (int)caught, mix);
  return caught == 80 && history[79] == 19 * 255 * 128 + 1000000 * 0 ? 0 : 1;
}
