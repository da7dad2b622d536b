// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpginfo --fold for programs: schema mpgfold-1, in
// docs/schema/mpgfold-1.schema.json.

#include "Support/JsonItem.h"
#include "mpginfo/Fold/Fold.h"
#include "llvm/ADT/ArrayRef.h"

using namespace llvm;
using namespace mpg;

static constexpr size_t maxListed = 1000; ///< groups, and differences of one

static JsonObject groupItem(const FoldGroup &group) {
  auto difference = [](const FoldDifference &entry) {
    return JsonObject{{"key", entry.key},
                      {"value", textOrNull(entry.value)},
                      {"usual", textOrNull(entry.usual)}};
  };
  return {{"count", group.nodes.size()},
          {"nodes", foldNames(group.nodes)},
          {"differences",
           jsonList(ArrayRef(group.differences).take_front(maxListed),
                    difference)}};
}

static JsonObject figureItem(const FoldFigure &figure) {
  auto slow = [](const SlowNode &node) {
    return JsonObject{{"node", node.node}, {"value", node.value}};
  };
  return {{"name", figure.name},
          {"unit", figure.unit},
          {"higher_is_better", figure.isHigherBetter},
          {"nodes", figure.values.size()},
          {"median", figure.median},
          {"limit", figure.limit},
          {"slow", jsonList(figure.slow, slow)}};
}

void mpg::writeFoldJson(raw_ostream &out, const Fold &fold) {
  JsonItem pages;
  if (ArrayRef<uint64_t> list = fold.availablePages; !list.empty())
    pages = JsonObject{{"min", list.front()},
                       {"median", list[list.size() / 2]},
                       {"max", list.back()}};
  auto scattered = [](const ScatteredKey &key) {
    return JsonObject{{"key", key.key}, {"values", key.values}};
  };
  writeJson(out,
            JsonObject{
                {"schema", "mpgfold-1"},
                {"version", MPG_VERSION},
                {"nodes", fold.nodes},
                {"uniform", fold.isUniform()},
                {"available_pages", pages},
                {"group_count", fold.groups.size()},
                {"groups", jsonList(ArrayRef(fold.groups).take_front(maxListed),
                                    groupItem)},
                {"scattered", jsonList(fold.scattered, scattered)},
                {"figures", jsonList(fold.figures, figureItem)},
                {"missing", JsonObject{{"count", fold.missing.size()},
                                       {"nodes", foldNames(fold.missing)}}},
                {"skipped", fold.skipped.toJson("node")}});
  out << "\n";
}
