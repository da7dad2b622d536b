// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds the answers of a fleet's nodes into one: equal nodes once, the others
// by what differs, slow ones by the figures of mpgbench. What changes from
// minute to minute (free pages, counters) is not compared, nor are names.

#pragma once

#include "Support/Skipped.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace mpg {

// FoldReader.cpp: takes what clush, pdsh or srun printed apart into the answers
// of nodes: JSON, on one line or on several, with or without "node: " in front.
// The lines of nodes may be mixed. Other text is a reason, never an error.

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

// NodeSet.cpp: names of nodes as Slurm and ClusterShell write many of them:
// node[1-9998]. Only the last number of a name is folded.

/// "login,node[1-3,007]"; names that such a set cannot hold are in quotes. Each
/// name once. After \p maxParts of "node[1-3]", 0 for all, "and 17 more".
std::string foldNames(std::vector<std::string> names, size_t maxParts = 0);

/// The names in "login,node[1-3]", those in front first. Nothing if it is not a
/// set, or one of more than a million.
std::optional<std::vector<std::string>> expandNames(llvm::StringRef set);

} // namespace mpg
