// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dlopen() with RTLD_DEEPBIND looks for a library's symbols in the library and
// in what it needs before anything else: its free() is the C library's then,
// and gets blocks that come from our heap. So the flag is left out where malloc
// is ours; the library sees what all others see.
//
// dlopen() asks who has called it, by the return address, for the caller's
// RUNPATH. So the C library's function is jumped to, which is not for a
// compiler to decide. Only in the shared library.

#include "base/CLibrary.h"
#include "heap/Heap.h"

using namespace mpg;

namespace {

/// In two registers, for both architectures.
struct Target {
  void *(*open)(const char *, int);
  long flags;
};

} // namespace

static Next<void *(const char *, int)> nextOpen;

/// Before glibc 2.34 a program without libdl has no dlopen behind ours.
static void *openNothing(const char *, int) { return nullptr; }

extern "C" __attribute__((visibility("hidden"))) Target
mpg_target_of_dlopen(int flags) {
  bool drop = (flags & RTLD_DEEPBIND) && heapIsOurs();
  auto *real = nextOpen.get("dlopen");
  return {real ? real : openNothing, drop ? flags & ~RTLD_DEEPBIND : flags};
}

#if defined(__x86_64__)

__asm__(R"(
  .pushsection .text.dlopen, "ax", @progbits
  .globl dlopen
  .type dlopen, @function
  .p2align 4
dlopen:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_def_cfa_offset 16
  movl %esi, %edi
  callq mpg_target_of_dlopen
  popq %rdi
  .cfi_def_cfa_offset 8
  movl %edx, %esi
  jmpq *%rax
  .cfi_endproc
  .size dlopen, . - dlopen
  .popsection
)");

#elif defined(__aarch64__)

// hint #34 is `bti c`, which allows a branch by x16 as well.
__asm__(R"(
  .pushsection .text.dlopen, "ax", @progbits
  .globl dlopen
  .type dlopen, @function
  .p2align 4
dlopen:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-32]!
  .cfi_def_cfa_offset 32
  .cfi_offset x29, -32
  .cfi_offset x30, -24
  str x0, [sp, #16]
  mov w0, w1
  bl mpg_target_of_dlopen
  mov x16, x0
  ldr x0, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
  .size dlopen, . - dlopen
  .popsection
)");

#else
#error "libmpg runs on x86-64 and AArch64"
#endif
