// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What elfutils' configure would find with glibc 2.28. Without USE_LOCKS, as
// elfutils has it unless asked.

#define HAVE_DECL_MEMPCPY 1
#define HAVE_DECL_MEMRCHR 1
#define HAVE_DECL_POWEROF2 1
#define HAVE_DECL_RAWMEMCHR 1
#define HAVE_DECL_REALLOCARRAY 1
#define HAVE_ERR_H 1
#define HAVE_ERROR_H 1
#define HAVE_FALLTHROUGH 1
#define HAVE_MREMAP 1
#define HAVE_STDATOMIC_H 1
#define HAVE_VISIBILITY 1
#define PACKAGE_NAME "elfutils"
#include <eu-config.h>
