// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the C library that libmpgrt.so stands in front of. Only in the
// shared library: in a static program a second pthread_create would be a
// duplicate definition, there Wrap.cpp is in its place.

#include "base/CLibrary.h"
#include "fork/Fork.h"
#include "heap/HeapSmall.h"
#include "stack/Stack.h"
#include "stack/StackLimit.h"
#include "stack/StackMain.h"
#include "stack/ThreadStack.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

using mpg::Next;

static Next<int(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)>
    nextCreate;
static Next<int(pthread_t, pthread_attr_t *)> nextGetAttributes;
static Next<size_t(const pthread_attr_t *)> nextMinStack;

MPG_EXPORT int pthread_create(pthread_t *thread,
                              const pthread_attr_t *attributes,
                              void *(*function)(void *), void *argument) {
  // What glibc takes for itself: a private function that it keeps for virtual
  // machines which look for it by name, as here.
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
  if (error == EAGAIN && mpg::giveUpKey())
    error = real(key, destructor);
  return error;
}

//===----------------------------------------------------------------------===//
// main
//===----------------------------------------------------------------------===//

/// What the first instructions of a program call, when the constructors of the
/// libraries are done.
MPG_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc,
                                 char **argv, void (*init)(), void (*fini)(),
                                 void (*loaderFini)(), void *stackEnd) {
  using StartMain = int(int (*)(int, char **, char **), int, char **,
                        void (*)(), void (*)(), void (*)(), void *);
  static Next<StartMain> nextStartMain;
  if (mpg::mainBegins())
    main = mpg::mainOnLargePages(main);
  return nextStartMain.get("__libc_start_main")(main, argc, argv, init, fini,
                                                loaderFini, stackEnd);
}

bool mpg_calls_main() {
  return dlsym(RTLD_DEFAULT, "__libc_start_main") ==
         reinterpret_cast<void *>(__libc_start_main);
}

//===----------------------------------------------------------------------===//
// Children
//===----------------------------------------------------------------------===//

static Next<pid_t()> nextFork, nextSimpleFork;
static Next<int(int (*)(void *), void *, int, void *, ...)> nextClone;

static pid_t forkBy(pid_t (*real)(), mpg::ForkHandlers handlers) {
  if (real)
    return mpg::forkSafely(real, handlers);
  errno = ENOSYS;
  return -1;
}

MPG_EXPORT pid_t fork() noexcept {
  return forkBy(nextFork.get("fork"), mpg::ForkHandlers::called);
}

// Since glibc 2.34.
MPG_EXPORT pid_t _Fork() noexcept {
  return forkBy(nextSimpleFork.get("_Fork"), mpg::ForkHandlers::none);
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

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

static Next<int(int, const struct rlimit *)> nextSetLimit;
static Next<int(pid_t, int, const struct rlimit *, struct rlimit *)>
    nextProcessLimit;

/// What a new limit changes for this process.
static void applyLimit(int resource) {
  if (resource == RLIMIT_STACK)
    mpg::applyStackLimit();
  else if (resource == RLIMIT_AS || resource == RLIMIT_DATA)
    mpg::applyMemoryLimit();
}

MPG_EXPORT int setrlimit(__rlimit_resource_t resource,
                         const struct rlimit *limit) noexcept {
  auto *real = nextSetLimit.get("setrlimit");
  if (!real) {
    errno = ENOSYS;
    return -1;
  }
  int result = real(int(resource), limit);
  if (!result)
    applyLimit(int(resource));
  return result;
}

MPG_EXPORT int prlimit(pid_t process, enum __rlimit_resource resource,
                       const struct rlimit *limit,
                       struct rlimit *before) noexcept {
  auto *real = nextProcessLimit.get("prlimit");
  if (!real) {
    errno = ENOSYS;
    return -1;
  }
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
