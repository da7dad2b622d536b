/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * File systems whose files belong to this node alone. On others thousands of
 * nodes may share a file, and reading it anew from all of them at once is a load
 * that nobody wants.
 */
#ifndef MPG_FILESYSTEMS_H
#define MPG_FILESYSTEMS_H

/* \p type: statfs::f_type. Overlays of a container count as local. */
static inline int mpg_is_local_filesystem(unsigned long type) {
  return type == 0xef53 /* ext4 */ || type == 0x58465342 /* XFS */ ||
         type == 0x9123683e /* btrfs */ || type == 0x01021994 /* tmpfs */ ||
         type == 0x794c7630 /* overlay */;
}

#endif /* MPG_FILESYSTEMS_H */
