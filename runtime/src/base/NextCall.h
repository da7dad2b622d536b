// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The next definition of a function after ours: the C library's, or that of
// another library which stands in front of it. Only in the shared library.

#ifndef MPG_RUNTIME_NEXTCALL_H
#define MPG_RUNTIME_NEXTCALL_H

#include <atomic>
#include <dlfcn.h>

namespace mpg {

/// Looked up once: dlsym() would make the program lose what dlerror() has for
/// it.
template <typename Function> class Next {
public:
  Function *get(const char *name) {
    Function *known = function.load(std::memory_order_relaxed);
    if (!known) {
      known = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
      function.store(known, std::memory_order_relaxed);
    }
    return known;
  }

private:
  std::atomic<Function *> function{nullptr};
};

} // namespace mpg

#endif // MPG_RUNTIME_NEXTCALL_H
