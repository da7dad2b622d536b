// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small machine: code in an array, functions in a table, a stack, memory.
#include <stdint.h>
#include <stdio.h>

struct Machine {
  int64_t stack[64], memory[1024], *top;
  const int32_t *code;
  int place, steps;
};
typedef void Operation(struct Machine *, int32_t);

static void push(struct Machine *m, int32_t a) { *m->top++ = a; }
static void load(struct Machine *m, int32_t a) {
  m->top[-1] = m->memory[(m->top[-1] + a) & 1023];
}
static void store(struct Machine *m, int32_t a) {
  m->top -= 2;
  m->memory[(m->top[1] + a) & 1023] = m->top[0];
}
static void add(struct Machine *m, int32_t a) {
  --m->top;
  m->top[-1] += m->top[0] + a;
}
static void less(struct Machine *m, int32_t a) { m->top[-1] = m->top[-1] < a; }
static void jumpIf(struct Machine *m, int32_t a) {
  if (*--m->top)
    m->place = a;
}

static Operation *const operations[] = {push, load, store, add, less, jumpIf};
enum { PUSH, LOAD, STORE, ADD, LESS, JUMPIF, STOP };

static int64_t run(struct Machine *m) {
  m->top = m->stack;
  for (m->place = 0; m->code[m->place] != STOP; ++m->steps) {
    const int32_t *now = m->code + m->place;
    m->place += 2;
    operations[now[0]](m, now[1]);
  }
  return m->top[-1];
}

int main(void) {
  // memory[i + 2] = memory[i] + memory[i + 1] for i below 80; i is at 1000.
  static const int32_t code[] = {
      PUSH,   1,    PUSH,  1,     STORE, 0,    PUSH, 1000, LOAD, 0,    LOAD,
      0,      PUSH, 1000,  LOAD,  0,     LOAD, 1,    ADD,  0,    PUSH, 1000,
      LOAD,   0,    STORE, 2,     PUSH,  1000, LOAD, 0,    PUSH, 1,    ADD,
      0,      PUSH, 1000,  STORE, 0,     PUSH, 1000, LOAD, 0,    LESS, 80,
      JUMPIF, 6,    PUSH,  81,    LOAD,  0,    STOP, 0};
  static struct Machine machine;
  machine.code = code;
  int64_t result = run(&machine);
  uint64_t mix = 0;
  for (int i = 0; i < 1024; ++i)
    mix = mix * 3 + (uint64_t)machine.memory[i];
  printf("%lld %d %llu\n", (long long)result, machine.steps,
         (unsigned long long)mix);
  return result == 37889062373143906 ? 0 : 1;
}
