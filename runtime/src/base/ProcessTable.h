// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table in mpgrun's file where the processes of `mpgrun --children` write
// what they had (<mpg/state.h>). A process that was started takes an entry at
// once, one that was forked when it has something to tell: a shell forks for
// each command, and most of these processes are another program soon.

#ifndef MPG_RUNTIME_PROCESSTABLE_H
#define MPG_RUNTIME_PROCESSTABLE_H

#include "mpg/state.h"

namespace mpg {

class ProcessTable {
public:
  /// Maps the table of the file \p fd, if that has one. The mapping is shared
  /// with all that will be forked.
  void open(int fd);
  bool isOpen() const { return table; }

  /// The entry of this process; null if there is none. \p take: takes one then,
  /// as long as there are any.
  mpg_state_process *entry(bool take);

  /// Writes down what all of this process's memory is now. To be called at its
  /// end.
  void writeEnd();

private:
  mpg_state_table *table = nullptr;
  mpg_state_process *own = nullptr;
  uint32_t owner = 0; ///< whose entry that is; 0: nobody's
};

} // namespace mpg

#endif // MPG_RUNTIME_PROCESSTABLE_H
