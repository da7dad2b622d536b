// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parent that waits until its child has left the pages that they share.

#ifndef MPG_RUNTIME_FORKWAIT_H
#define MPG_RUNTIME_FORKWAIT_H

namespace mpg {

/// Before the fork. Without it the other two do nothing.
void openForkWait();
/// In the child, when it is done.
void tellParent();
/// In the parent: returns when the child has told, at the latest after half a
/// second (a fork that failed has no child).
void awaitChild();

} // namespace mpg

#endif // MPG_RUNTIME_FORKWAIT_H
