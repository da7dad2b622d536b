// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds the answers of a fleet's nodes into one: equal nodes once, the others
// by what differs, slow ones by the figures of mpgbench. What changes from
// minute to minute (free pages, counters) is not compared, nor are names.

#ifndef MPG_TOOLS_MPGINFO_FOLD_FOLD_H
#define MPG_TOOLS_MPGINFO_FOLD_FOLD_H

#include "Support/Skipped.h"
#include "mpginfo/Fold/FoldReader.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

// The result

struct FoldDifference {
  std::string key;          ///< "pages.pools[2 MiB].total"
  std::string value, usual; ///< of this group, of the first; empty: not there
};

/// Nodes that are equal.
struct FoldGroup {
  std::vector<std::string> nodes;
  std::vector<FoldDifference> differences; ///< none in the first group
};

/// A key whose values are so many that they make no groups.
struct ScatteredKey {
  std::string key;
  size_t values = 0;
};

struct SlowNode {
  std::string node;
  double value = 0;
};

/// A point of mpgbench over the nodes that have it.
struct FoldFigure {
  std::string name, unit; ///< "triad/pages=2M", "GB/s"
  bool isHigherBetter = true;
  std::vector<SlowNode> values; ///< of all nodes
  double median = 0;
  std::optional<double>
      limit;                  ///< beyond it a node is slow; none: too few nodes
  std::vector<SlowNode> slow; ///< the slowest first
};

struct Fold {
  size_t nodes = 0;              ///< with an answer that was used
  std::vector<FoldGroup> groups; ///< the largest first
  std::vector<FoldDifference>
      common; ///< of the first group: what is said of it
  std::vector<ScatteredKey> scattered;
  std::vector<uint64_t> availablePages; ///< in order
  std::vector<FoldFigure> figures;
  std::vector<std::string> missing; ///< expected or heard of, without an answer
  Skipped skipped;                  ///< by node

  /// All answered, all are equal, none is slow.
  bool isUniform() const;
};

// The work

class Folder {
public:
  /// \p file: names the node where neither line nor answer does.
  void add(const NodeAnswer &answer, const std::string &file);
  void skip(SkipKind kind, const std::string &node, const std::string &reason) {
    fold.skipped.add(node, {kind, reason});
  }
  /// Once, after the last answer. \p expected: the names of all nodes.
  Fold finish(const std::vector<std::string> &expected);

private:
  using Entry = std::pair<uint32_t, uint32_t>; ///< key, value; in texts
  struct NodeRow {
    std::string name;
    bool hasInfo = false, hasBench = false;
    std::vector<Entry> entries; ///< in the order of their keys' texts
    std::optional<uint64_t> availablePages;
  };

  uint32_t intern(llvm::StringRef text);
  NodeRow &findRow(const std::string &name);
  void addInfo(NodeRow &row, const llvm::json::Object &object);
  void flatten(const std::string &key, const llvm::json::Value &value,
               std::vector<Entry> &entries);
  void addFigures(const std::string &node, const llvm::json::Object &object);
  void levelSizes();
  bool hasAnswered(const std::string &name) const;
  void skipLines();
  void dropScattered();
  void makeGroups();
  void findMissing(const std::vector<std::string> &expected);

  Fold fold;
  llvm::StringMap<uint32_t> ids;
  std::vector<llvm::StringRef> texts;
  llvm::StringMap<size_t> rowIds, figureIds;
  std::vector<NodeRow> rows;
  std::vector<std::string> silent; ///< names in front of what cannot be used
  std::vector<std::pair<std::string, std::string>> lines; ///< node, no JSON
};

/// Fills median, limit and slow. A node is slow if it is further from the
/// median than a normal distribution would bring any of the nodes once in 100
/// folds (width by the median absolute deviation, with an allowance for few
/// nodes), and by more than 2 %. Below 16 nodes nothing is slow.
void findSlow(FoldFigure &figure);

void writeFoldText(llvm::raw_ostream &out, const Fold &fold);
/// Schema mpgfold-1.
void writeFoldJson(llvm::raw_ostream &out, const Fold &fold);

} // namespace mpg

#endif // MPG_TOOLS_MPGINFO_FOLD_FOLD_H
