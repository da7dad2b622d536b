// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that a fold of many leaves out, because each may be anybody's:
// half-written, of another program, made to do harm. Each is counted by its
// kind; the first ones keep their names.

#pragma once

#include "Support/JsonItem.h"
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

enum class SkipKind : uint8_t {
  unreadable,
  foreign,      ///< no JSON, or of another program
  halfWritten,  ///< JSON that breaks off, or is damaged
  otherVersion, ///< of the schema
  wrong,        ///< a report by its name, but not by its values
  repeated,     ///< another input has said the same; the first one counts
};

struct Skip {
  SkipKind kind;
  std::string reason;
};

class Skipped {
public:
  void add(const std::string &name, const Skip &skip);
  size_t count() const;
  /// A line for each kind: "2 files half-written or damaged: a.json: empty;
  /// b.json: it breaks off". \p foreign, \p repeated: the caller's words for
  /// these two kinds.
  std::vector<std::string> describe(llvm::StringRef noun,
                                    llvm::StringRef foreign,
                                    llvm::StringRef repeated = "") const;
  /// \p nameKey: the key of a name, "file".
  JsonArray toJson(llvm::StringRef nameKey) const;

private:
  static constexpr size_t kindCount = size_t(SkipKind::repeated) + 1;
  struct Inputs {
    size_t count = 0;
    std::vector<std::pair<std::string, std::string>> first; ///< name, reason
  };
  std::array<Inputs, kindCount> inputs; ///< by SkipKind
};

} // namespace mpg
