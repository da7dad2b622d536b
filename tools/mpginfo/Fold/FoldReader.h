// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes what clush, pdsh or srun printed apart into the answers of nodes: JSON,
// on one line or on several, with or without "node: " in front. The lines of
// nodes may be mixed. Other text is a reason, never an error.

#ifndef MPG_TOOLS_MPGINFO_FOLD_FOLDREADER_H
#define MPG_TOOLS_MPGINFO_FOLD_FOLDREADER_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <system_error>
#include <utility>

namespace mpg {

/// mpginfo's answer has 4 KiB, one of mpgbench 1 MiB.
constexpr size_t maxAnswerBytes = size_t(8) << 20;

/// \p node is empty where the line did not name it.
struct NodeAnswer {
  std::string node;
  std::string text; ///< JSON from its first to its last bracket, or a line
  bool isJson;      ///< it begins as JSON
  bool isWhole;     ///< and does not break off
  bool isTooLong = false; ///< the text is not kept
};

class FoldReader {
public:
  using Report = std::function<void(const NodeAnswer &)>;
  explicit FoldReader(Report report) : report(std::move(report)) {}

  /// Reads \p path to its end; "-" is standard input. Answers that break off
  /// there are taken, too.
  std::error_code read(const std::string &path);

private:
  struct Open {
    std::string text;
    size_t depth = 0;
    bool isString = false, isEscaped = false, isTooLong = false;
    void add(llvm::StringRef line);
  };
  void readLine(llvm::StringRef line);
  void close(llvm::StringRef node, const Open &answer, bool isWhole);

  Report report;
  llvm::StringMap<Open> open; ///< by node
};

} // namespace mpg

#endif // MPG_TOOLS_MPGINFO_FOLD_FOLDREADER_H
