// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The switch itself, in assembly: a compiler may keep anything on the stack
// before and after a change of the stack pointer that it does not know of. The
// old stack pointer is in the frame pointer meanwhile, a register that the
// called function preserves.
//
// It works with shadow stacks and branch protection: every call has its return,
// and the function begins with a landing pad.

#include "base/StackSwitch.h"
#include <stddef.h>

#if defined(__x86_64__)

__asm__(R"(
  .pushsection .text.mpg_call_on_stack, "ax", @progbits
  .globl mpg_call_on_stack
  .hidden mpg_call_on_stack
  .type mpg_call_on_stack, @function
  .p2align 4
mpg_call_on_stack:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rsp
  movq %rdx, %rdi
  callq *%rsi
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size mpg_call_on_stack, . - mpg_call_on_stack
  .popsection
)");

#elif defined(__aarch64__)

// hint #34 is `bti c`, which older assemblers do not know by name.
__asm__(R"(
  .pushsection .text.mpg_call_on_stack, "ax", @progbits
  .globl mpg_call_on_stack
  .hidden mpg_call_on_stack
  .type mpg_call_on_stack, @function
  .p2align 4
mpg_call_on_stack:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa_register x29
  mov sp, x0
  mov x0, x2
  blr x1
  mov sp, x29
  .cfi_def_cfa_register sp
  ldp x29, x30, [sp], #16
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size mpg_call_on_stack, . - mpg_call_on_stack
  .popsection
)");

#else
#error "libmpg runs on x86-64 and AArch64"
#endif

// Uses alloca because the unwinder can then find its way back (cancellation and
// pthread_exit unwind). Moves in steps because valgrind takes a step of 2 MB
// for a switch to another stack. The skipped memory is not touched.

__attribute__((noinline)) void *
mpg::callBelow(uintptr_t top, void *(*function)(void *), void *argument) {
  constexpr size_t stepBytes = 512 << 10;
  auto at = uintptr_t(__builtin_frame_address(0));
  while (top && at > top) {
    size_t bytes = at - top;
    void *step = __builtin_alloca(bytes < stepBytes ? bytes : stepBytes);
    __asm__ volatile("" : : "r"(step) : "memory");
    at = uintptr_t(step);
  }
  return function(argument);
}
