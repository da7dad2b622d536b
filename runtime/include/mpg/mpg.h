/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Public C interface of libmpg. Everything else the library does happens by
 * itself, before main. All functions are thread-safe.
 */
#ifndef MPG_H
#define MPG_H

#include <stddef.h>
#include <stdint.h>

#ifndef MPG_API
#define MPG_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library, "major.minor.patch"; a constant string. Also tells
 * this library from Fujitsu's of the same link name. */
MPG_API const char *mpg_version(void);

/* Does nothing. `-u mpg_start` makes a static link take the library in. */
MPG_API void mpg_start(void);

/* `bytes` of zeroed memory on NUMA node `node`, on large pages if there are
 * any (and MPG_MODE lets them be used); aligned to 2 MiB, and present. NULL
 * with errno EINVAL (no such node, bytes 0), ENOMEM (that node has no room for
 * it), or EPERM (the system forbids to choose among nodes). Free with
 * mpg_free_pages and the same size. */
MPG_API void *mpg_alloc_onnode(size_t bytes, int node);

/* The same, pages dealt out to all nodes that the process may use, in turn. A
 * node that is full is passed over. */
MPG_API void *mpg_interleave(size_t bytes);

/* Gives back memory of the two functions above. NULL does nothing. */
MPG_API void mpg_free_pages(void *p, size_t bytes);

/* Where [p, p + bytes) lies: out[n] becomes the number of its bytes on node n,
 * for n < nodes. Bytes that are not present are counted nowhere, nor are those
 * that were only read so far and share the kernel's page of zeros. Returns the
 * bytes that are present, or (size_t)-1 with errno EFAULT (a part of it is not
 * mapped), EPERM or ENOSYS (the system does not tell). */
MPG_API size_t mpg_where(const void *p, size_t bytes, size_t *out, int nodes);

#ifdef __cplusplus
}
#endif

#endif /* MPG_H */
