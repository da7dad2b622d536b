// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the C library and of the C++ library that libmpgrt.so
// interposes. Only in the shared library: in a static program a second
// pthread_create would be a duplicate definition; Wrap.cpp is used there.

#include "base/CLibrary.h"
#include "base/Messages.h"
#include "base/Syscall.h"
#include "fork/Fork.h"
#include "heap/Heap.h"
#include "heap/HeapReport.h"
#include "heap/HeapSmall.h"
#include "heap/HeapSpace.h"
#include "stack/Stack.h"
#include "stack/ThreadStack.h"
#include "start/Init.h"
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace mpg;

// Linux 5.3; older headers do not have it.
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

static Next<int(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)>
    nextCreate;
static Next<int(pthread_t, pthread_attr_t *)> nextGetAttributes;
static Next<size_t(const pthread_attr_t *)> nextMinStack;

MPG_EXPORT int pthread_create(pthread_t *thread,
                              const pthread_attr_t *attributes,
                              void *(*function)(void *), void *argument) {
  // The size of glibc's own share: a private function that it keeps for virtual
  // machines, which also look it up by name.
  mpg::ThreadCalls calls{nextCreate.get("pthread_create"),
                         nextMinStack.get("__pthread_get_minstack")};
  if (!calls.create)
    return EAGAIN;
  return mpg::createThread(calls, thread, attributes, function, argument);
}

MPG_EXPORT int pthread_getattr_np(pthread_t thread,
                                  pthread_attr_t *attributes) {
  auto *real = nextGetAttributes.get("pthread_getattr_np");
  if (!real)
    return ENOSYS;
  int error = real(thread, attributes);
  if (!error)
    mpg::correctAttributes(thread, attributes);
  return error;
}

/// The heap has one of the 1,024 keys, and can do without.
MPG_EXPORT int pthread_key_create(pthread_key_t *key,
                                  void (*destructor)(void *)) noexcept {
  static Next<int(pthread_key_t *, void (*)(void *))> nextKeyCreate;
  auto *real = nextKeyCreate.get("pthread_key_create");
  if (!real)
    return EAGAIN;
  int error = real(key, destructor);
  if (error == EAGAIN && mpg::releaseKey())
    error = real(key, destructor);
  return error;
}

// main

/// Called by the first instructions of a program, after the constructors of the
/// libraries.
MPG_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc,
                                 char **argv, void (*init)(), void (*fini)(),
                                 void (*loaderFini)(), void *stackEnd) {
  using StartMain = int(int (*)(int, char **, char **), int, char **,
                        void (*)(), void (*)(), void (*)(), void *);
  static Next<StartMain> nextStartMain;
  mpg::startIfPostponed();
  if (mpg::mainBegins())
    main = mpg::mainOnLargePages(main);
  return nextStartMain.get("__libc_start_main")(main, argc, argv, init, fini,
                                                loaderFini, stackEnd);
}

bool mpg_calls_main() {
  return dlsym(RTLD_DEFAULT, "__libc_start_main") ==
         reinterpret_cast<void *>(__libc_start_main);
}

// Children

static Next<pid_t()> nextFork, nextSimpleFork;
static Next<int(int (*)(void *), void *, int, void *, ...)> nextClone;

static pid_t forkBy(pid_t (*real)(), mpg::ForkHandlers handlers) {
  return real ? mpg::forkSafely(real, handlers) : notThere();
}

MPG_EXPORT pid_t fork() noexcept {
  return forkBy(nextFork.get("fork"), mpg::ForkHandlers::called);
}

// Since glibc 2.34.
MPG_EXPORT pid_t _Fork() noexcept {
  return forkBy(nextSimpleFork.get("_Fork"), mpg::ForkHandlers::none);
}

MPG_EXPORT int chroot(const char *path) noexcept {
  static Next<int(const char *)> nextRoot;
  int saved = errno;
  if (geteuid() == 0) // else it is refused
    mpg::prepareForRoot();
  errno = saved;
  return nextRoot.get("chroot")(path);
}

MPG_EXPORT int clone(int (*function)(void *), void *stack, int flags,
                     void *argument, ...) noexcept {
  va_list more;
  va_start(more, argument);
  auto *parentId = va_arg(more, pid_t *);
  void *storage = va_arg(more, void *);
  auto *childId = va_arg(more, pid_t *);
  va_end(more);
  auto *real = nextClone.get("clone");
  int error = real ? 0 : ENOSYS;
  if (!error && !(flags & CLONE_VM))
    error = mpg::prepareForChild();
  if (!error)
    return real(function, stack, flags, argument, parentId, storage, childId);
  errno = error;
  return -1;
}

/// Where syscall() goes; null before its first call.
extern "C" {
__attribute__((visibility("hidden"))) long (*mpg_next_syscall)(long, ...);
}

static long refuseChild(long, ...) {
  errno = ENOMEM;
  return -1;
}

/// Whether a system call makes a process with a copy of our memory. \p first
/// and \p second: its arguments.
static bool makesChild(long number, uintptr_t first, size_t second) {
#ifdef SYS_fork
  if (number == SYS_fork)
    return true;
#endif
  // The flags are the first word of the struct. Without any it is the question
  // whether there is such a call.
  bool asksOnly = first == 0 || second < sizeof(uint64_t);
  if (number == SYS_clone3)
    return !asksOnly && !(*reinterpret_cast<uint64_t *>(first) & CLONE_VM);
  return number == SYS_clone && !(first & CLONE_VM);
}

extern "C" __attribute__((visibility("hidden"))) long (*mpg_target_of_syscall(
    long number, uintptr_t first, size_t second, uintptr_t third))(long, ...) {
  static Next<long(long, ...)> nextSyscall;
  int saved = errno;
  mpg_next_syscall = nextSyscall.get("syscall");
  // Without a filter it is the question whether there is such a call.
  if (number == SYS_seccomp && first == SECCOMP_SET_MODE_FILTER && third)
    mpg::isLockedIn = true;
  bool isSafe = !makesChild(number, first, second) || !mpg::prepareForChild();
  errno = saved;
  return isSafe ? mpg_next_syscall : refuseChild;
}

// syscall() as well, for programs that make a process by clone() or clone3()
// without a function of the C library, or lock themselves in. It is jumped to,
// as dlopen() below: a child may come back on another stack, where our frame is
// not.
#if defined(__x86_64__)

__asm__(R"(
  .pushsection .text.syscall, "ax", @progbits
  .globl syscall
  .type syscall, @function
  .p2align 4
syscall:
  .cfi_startproc
  endbr64
  cmpq $56, %rdi # SYS_clone
  je 1f
  cmpq $57, %rdi # SYS_fork
  je 1f
  cmpq $317, %rdi # SYS_seccomp
  je 1f
  cmpq $435, %rdi # SYS_clone3
  je 1f
  movq mpg_next_syscall(%rip), %rax
  testq %rax, %rax
  je 1f
  jmpq *%rax
1:
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  subq $8, %rsp
  .cfi_def_cfa_offset 64
  callq mpg_target_of_syscall
  addq $8, %rsp
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  .cfi_def_cfa_offset 8
  jmpq *%rax
  .cfi_endproc
  .size syscall, . - syscall
  .popsection
)");

#elif defined(__aarch64__)

// hint #34 is `bti c`, which allows a branch by x16 as well.
__asm__(R"(
  .pushsection .text.syscall, "ax", @progbits
  .globl syscall
  .type syscall, @function
  .p2align 4
syscall:
  .cfi_startproc
  hint #34
  cmp x0, #220 // SYS_clone
  b.eq 1f
  cmp x0, #277 // SYS_seccomp
  b.eq 1f
  cmp x0, #435 // SYS_clone3
  b.eq 1f
  adrp x16, mpg_next_syscall
  ldr x16, [x16, #:lo12:mpg_next_syscall]
  cbz x16, 1f
  br x16
1:
  stp x29, x30, [sp, #-80]!
  .cfi_def_cfa_offset 80
  .cfi_offset x29, -80
  .cfi_offset x30, -72
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  str x6, [sp, #64]
  bl mpg_target_of_syscall
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldr x6, [sp, #64]
  ldp x29, x30, [sp], #80
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
  .size syscall, . - syscall
  .popsection
)");

#endif

// Limits

static Next<int(int, const struct rlimit *)> nextSetLimit;
static Next<int(pid_t, int, const struct rlimit *, struct rlimit *)>
    nextProcessLimit;

/// Applies the effects of a new limit to this process.
static void applyLimit(int resource) {
  if (resource == RLIMIT_STACK)
    mpg::applyStackLimit();
  if (resource != RLIMIT_AS && resource != RLIMIT_DATA)
    return;
  mpg::noteNewLimit();
  mpg::heapSpace.recycleKept();
  mpg::applyMemoryLimit();
}

MPG_EXPORT int setrlimit(__rlimit_resource_t resource,
                         const struct rlimit *limit) noexcept {
  auto *real = nextSetLimit.get("setrlimit");
  if (!real)
    return notThere();
  int result = real(int(resource), limit);
  if (!result)
    applyLimit(int(resource));
  return result;
}

MPG_EXPORT int prlimit(pid_t process, enum __rlimit_resource resource,
                       const struct rlimit *limit,
                       struct rlimit *before) noexcept {
  auto *real = nextProcessLimit.get("prlimit");
  if (!real)
    return notThere();
  int result = real(process, int(resource), limit, before);
  if (!result && limit)
    applyLimit(int(resource));
  return result;
}

// The same functions: files and addresses have 64 bits here.
MPG_EXPORT int setrlimit64(__rlimit_resource_t resource,
                           const struct rlimit64 *limit) noexcept {
  return setrlimit(resource, reinterpret_cast<const struct rlimit *>(limit));
}

MPG_EXPORT int prlimit64(pid_t process, enum __rlimit_resource resource,
                         const struct rlimit64 *limit,
                         struct rlimit64 *before) noexcept {
  return prlimit(process, resource,
                 reinterpret_cast<const struct rlimit *>(limit),
                 reinterpret_cast<struct rlimit *>(before));
}

/// By which those programs lock themselves in that do not call syscall().
MPG_EXPORT int prctl(int option, ...) noexcept {
  static Next<int(int, ...)> nextControl;
  unsigned long values[4];
  va_list more;
  va_start(more, option);
  for (unsigned long &value : values)
    value = va_arg(more, unsigned long);
  va_end(more);
  auto *real = nextControl.get("prctl");
  if (!real)
    return notThere();
  int result = real(option, values[0], values[1], values[2], values[3]);
  if (!result && option == PR_SET_SECCOMP)
    mpg::isLockedIn = true;
  return result;
}

// Libraries. dlopen() with RTLD_DEEPBIND resolves a library's symbols in the
// library and its dependencies before anything else: its free() is then the C
// library's, and gets blocks from our heap. So the flag is dropped where libmpg
// serves malloc, and the library sees the same symbols as all others.
//
// dlopen() derives the caller's RUNPATH from its return address. So the C
// library's function is entered by a jump, which a compiler would not
// guarantee.

namespace {

/// In two registers, for both architectures.
struct Target {
  void *(*open)(const char *, int);
  long flags;
};

} // namespace

static Next<void *(const char *, int)> nextOpen;

/// Before glibc 2.34 a program without libdl has no dlopen after ours.
static void *openNothing(const char *, int) { return nullptr; }

extern "C" __attribute__((visibility("hidden"))) Target
mpg_target_of_dlopen(const char *file, int flags) {
  if (file && strchr(file, '/') && opensExecutableStacks())
    allowCodeOnStack(file);
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

// C++. operator new and delete, in the forms that the C++ library's other forms
// call. The C++ library builds them on malloc already. They are here because an
// allocator after libmpg may build its own on its own malloc, with delete
// calling free by name, which is libmpg's. They have their linkage names
// because libmpg is not a C++ program. They also call each other by name, so
// that a program's replacement is used.

extern "C" void *_Znwm(size_t);
extern "C" void *_ZnwmSt11align_val_t(size_t, size_t);
extern "C" void _ZdlPv(void *);
extern "C" void _ZdlPvSt11align_val_t(void *, size_t);

/// The C++ library's own, which calls the new-handler and throws
/// std::bad_alloc. It is not after us if only a plug-in has it.
static void *nextDefinition(const char *name) {
  static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1"};
  void *found = dlsym(RTLD_NEXT, name);
  for (const char *library : libraries) {
    void *handle = found ? nullptr : dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
      continue;
    found = dlsym(handle, name);
    dlclose(handle);
  }
  if (found)
    return found;
  LineBuffer line(
      "mpg: operator new: out of memory, and no C++ library to throw "
      "std::bad_alloc; the program ends");
  line.print();
  abort();
}

/// operator new(size_t)
MPG_EXPORT void *_Znwm(size_t bytes) {
  if (void *block = malloc(bytes))
    return block;
  return reinterpret_cast<decltype(&_Znwm)>(nextDefinition("_Znwm"))(bytes);
}

/// operator new(size_t, align_val_t)
MPG_EXPORT void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment) {
  if (void *block = aligned_alloc(alignment, bytes))
    return block;
  using Function = decltype(&_ZnwmSt11align_val_t);
  return reinterpret_cast<Function>(nextDefinition("_ZnwmSt11align_val_t"))(
      bytes, alignment);
}

/// operator delete(void *)
MPG_EXPORT void _ZdlPv(void *block) { free(block); }

/// operator delete(void *, align_val_t)
MPG_EXPORT void _ZdlPvSt11align_val_t(void *block, size_t) { free(block); }

/// operator delete(void *, size_t)
MPG_EXPORT void _ZdlPvm(void *block, size_t) { _ZdlPv(block); }

/// operator delete(void *, size_t, align_val_t)
MPG_EXPORT void _ZdlPvmSt11align_val_t(void *block, size_t, size_t alignment) {
  _ZdlPvSt11align_val_t(block, alignment);
}
