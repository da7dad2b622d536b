// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Fold.h. An answer becomes a list of keys and values; each text is kept
// once, so that 10,000 equal nodes cost a few MiB.

#include "mpginfo/Fold/Fold.h"
#include "Support/Format.h"
#include "Support/JsonFields.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <map>

using namespace llvm;
using namespace mpg;

static constexpr size_t maxEntries = 4096; ///< of an answer
static constexpr size_t maxTextBytes = 200;

bool Fold::isUniform() const {
  return groups.size() <= 1 && missing.empty() && skipped.count() == 0 &&
         all_of(figures, [](auto &figure) { return figure.slow.empty(); });
}

// Answer by answer

uint32_t Folder::intern(StringRef text) {
  auto [entry, isNew] = ids.try_emplace(text, uint32_t(texts.size()));
  if (isNew)
    texts.push_back(entry->getKey());
  return entry->second;
}

Folder::NodeRow &Folder::findRow(const std::string &name) {
  auto [entry, isNew] = rowIds.try_emplace(name, rows.size());
  if (isNew)
    rows.push_back({name, false, false, {}, {}});
  return rows[entry->second];
}

/// Changes between two looks at the same node, or is its name.
static bool isPassing(StringRef key) {
  static constexpr StringLiteral keys =
      "schema headline advice host available_pages available_bytes obtainable "
      "free obtainable_pages reserved surplus stalls folder file usage_bytes "
      "free_bytes pool_free pool_surplus balancing_faults "
      "balancing_moved_pages";
  return hasWord(keys, key);
}

/// Names an entry of a list by the key that tells it from the others.
static std::string nameOfEntry(const json::Value &value, size_t index) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return std::to_string(index);
  if (std::optional<int64_t> bytes = object->getInteger("page_bytes"))
    return formatBytes(uint64_t(*bytes));
  if (std::optional<StringRef> name = object->getString("name"))
    return name->take_front(maxTextBytes).str();
  return std::to_string(object->getInteger("node").value_or(int64_t(index)));
}

void Folder::flatten(const std::string &key, const json::Value &value,
                     std::vector<Entry> &entries) {
  if (entries.size() > maxEntries)
    return;
  if (const json::Object *object = value.getAsObject()) {
    for (const auto &[name, part] : *object)
      if (!isPassing(name))
        flatten((key.empty() ? "" : key + ".") +
                    StringRef(name).take_front(maxTextBytes).str(),
                part, entries);
    return;
  }
  const json::Array *list = value.getAsArray();
  if (list && any_of(*list, [](const json::Value &part) {
        return part.kind() == json::Value::Object;
      })) {
    for (size_t index = 0; index < list->size(); ++index)
      flatten(key + "[" + nameOfEntry((*list)[index], index) + "]",
              (*list)[index], entries);
    return;
  }
  std::string text = value.getAsString() ? value.getAsString()->str()
                                         : formatv("{0}", value).str();
  entries.emplace_back(intern(StringRef(key).take_front(maxTextBytes)),
                       intern(StringRef(text).take_front(maxTextBytes)));
}

void Folder::addInfo(NodeRow &row, const json::Object &object) {
  const json::Object *verdict = object.getObject("verdict");
  if (!verdict || !object.getObject("machine") || !object.getObject("pages"))
    return skip(SkipKind::wrong, row.name,
                "verdict, machine or pages is not there");
  std::vector<Entry> entries;
  flatten("", json::Object(object), entries);
  if (entries.size() > maxEntries)
    return skip(SkipKind::wrong, row.name,
                "more than " + std::to_string(maxEntries) + " values");
  row.hasInfo = true;
  row.entries = std::move(entries);
  std::optional<int64_t> pages = verdict->getInteger("available_pages");
  if (pages && *pages >= 0)
    row.availablePages = uint64_t(*pages);
}

/// The medians of its points.
void Folder::addFigures(const std::string &node, const json::Object &object) {
  const json::Value value = json::Object(object);
  std::string error;
  std::vector<FoldFigure> found;
  constexpr size_t maxExperiments = 100, maxPoints = 10000;
  JsonFields(value, "", error)
      .each("experiments", maxExperiments, [&](const JsonFields &experiment) {
        std::string unit = experiment.text("unit");
        bool isHigherBetter = experiment.boolean("higher_is_better");
        experiment.each("points", maxPoints, [&](const JsonFields &point) {
          double median = point.object("summary").number("median");
          FoldFigure figure;
          figure.name = point.text("name");
          figure.unit = unit;
          figure.isHigherBetter = isHigherBetter;
          if (median > 0) // 0: it could not be measured
            figure.values.push_back({node, median});
          found.push_back(std::move(figure));
        });
      });
  if (!error.empty())
    return skip(SkipKind::wrong, node, error);
  findRow(node).hasBench = true;
  for (FoldFigure &figure : found) {
    auto [entry, isNew] = figureIds.try_emplace(
        figure.name + "\n" + figure.unit, fold.figures.size());
    if (isNew)
      fold.figures.push_back(std::move(figure));
    else
      append_range(fold.figures[entry->second].values, figure.values);
  }
}

/// A task's number (srun --label) does not name a node.
static std::string chooseName(const NodeAnswer &answer,
                              const json::Object &object,
                              const std::string &file) {
  const json::Object *machine = object.getObject("machine");
  StringRef host =
      machine ? machine->getString("host").value_or("") : StringRef();
  host = host.take_front(maxTextBytes);
  bool isNumber = all_of(answer.node, isDigit);
  if (isNumber && !host.empty())
    return host.str();
  return answer.node.empty() ? file : answer.node;
}

void Folder::add(const NodeAnswer &answer, const std::string &file) {
  std::string place = answer.node.empty() ? file : answer.node;
  if (!answer.isJson) {
    constexpr size_t maxLines = 100000;
    if (lines.size() < maxLines)
      lines.emplace_back(place, answer.text.substr(0, maxTextBytes));
    return;
  }
  auto refuse = [&](SkipKind kind, const std::string &reason) {
    skip(kind, place, reason);
    silent.push_back(place);
  };
  if (answer.isTooLong)
    return refuse(SkipKind::foreign,
                  "larger than " + formatBytes(maxAnswerBytes));
  if (!answer.isWhole)
    return refuse(SkipKind::halfWritten, "it breaks off");
  Expected<json::Value> value = parseJson(answer.text, maxAnswerBytes);
  if (!value)
    return refuse(SkipKind::halfWritten, toString(value.takeError()));
  const json::Object &object = *value->getAsObject();
  StringRef schema = object.getString("schema").value_or("").take_front(40);
  std::string name = place = chooseName(answer, object, file);
  bool isInfo = schema == "mpginfo-1", isBench = schema == "mpgbench-1";
  if (!isInfo && !isBench) {
    bool isOurs =
        schema.starts_with("mpginfo-") || schema.starts_with("mpgbench-");
    return refuse(isOurs ? SkipKind::otherVersion : SkipKind::foreign,
                  schema.empty() ? "no key schema" : "schema " + schema.str());
  }
  NodeRow &row = findRow(name);
  if (isInfo ? row.hasInfo : row.hasBench)
    return skip(SkipKind::repeated, name, schema.str());
  if (isInfo)
    addInfo(row, object);
  else
    addFigures(name, object);
}

// All answers

/// Memory differs by some MiB between equal nodes: what is within 1 % of the
/// median counts as the median.
void Folder::levelSizes() {
  std::map<uint32_t, std::vector<uint64_t>> sizes;
  auto readSize = [&](const Entry &entry, uint64_t &size) {
    return texts[entry.first].ends_with("memory_bytes") &&
           !texts[entry.second].getAsInteger(10, size);
  };
  uint64_t size = 0;
  for (const NodeRow &row : rows)
    for (const Entry &entry : row.entries)
      if (readSize(entry, size))
        sizes[entry.first].push_back(size);
  for (auto &[key, values] : sizes)
    std::nth_element(values.begin(), values.begin() + values.size() / 2,
                     values.end());
  for (NodeRow &row : rows)
    for (Entry &entry : row.entries) {
      if (!readSize(entry, size))
        continue;
      const std::vector<uint64_t> &values = sizes[entry.first];
      uint64_t median = values[values.size() / 2];
      bool isNear =
          std::max(size, median) - std::min(size, median) < median / 100 + 1;
      entry.second = intern(formatBytes(isNear ? median : size));
    }
}

/// Takes keys out of which no value is that of half of the nodes.
void Folder::dropScattered() {
  constexpr size_t maxValues = 16;
  std::map<uint32_t, std::map<uint32_t, size_t>> counts;
  size_t nodes = 0;
  for (const NodeRow &row : rows) {
    nodes += row.hasInfo;
    for (const Entry &entry : row.entries)
      ++counts[entry.first][entry.second];
  }
  DenseSet<uint32_t> scattered;
  for (const auto &[key, values] : counts) {
    bool hasUsual = any_of(
        values, [&](const auto &value) { return value.second * 2 >= nodes; });
    if (hasUsual || values.size() <= maxValues)
      continue;
    scattered.insert(key);
    fold.scattered.push_back({texts[key].str(), values.size()});
  }
  for (NodeRow &row : rows)
    erase_if(row.entries, [&](const Entry &entry) {
      return scattered.contains(entry.first);
    });
}

/// The entries that one list has and another one lacks, by key.
static std::vector<FoldDifference>
findDifferences(ArrayRef<std::pair<uint32_t, uint32_t>> entries,
                ArrayRef<std::pair<uint32_t, uint32_t>> usual,
                ArrayRef<StringRef> texts) {
  std::map<StringRef, FoldDifference> found;
  auto add = [&](auto &from, auto &other, std::string FoldDifference::*member) {
    for (const auto &entry : from)
      if (!std::binary_search(other.begin(), other.end(), entry))
        found[texts[entry.first]].*member = texts[entry.second].str();
  };
  add(entries, usual, &FoldDifference::value);
  add(usual, entries, &FoldDifference::usual);
  std::vector<FoldDifference> differences;
  for (auto &[key, difference] : found) {
    difference.key = key.str();
    differences.push_back(std::move(difference));
  }
  return differences;
}

void Folder::makeGroups() {
  std::map<std::vector<Entry>, std::vector<std::string>> groups;
  for (NodeRow &row : rows) {
    llvm::sort(row.entries);
    if (row.hasInfo)
      groups[row.entries].push_back(row.name);
  }
  std::vector<
      const std::pair<const std::vector<Entry>, std::vector<std::string>> *>
      order;
  for (auto &group : groups) {
    llvm::sort(group.second);
    order.push_back(&group);
  }
  llvm::sort(order, [](auto *left, auto *right) {
    return left->second.size() != right->second.size()
               ? left->second.size() > right->second.size()
               : left->second < right->second;
  });
  for (const auto *group : order)
    fold.groups.push_back(
        {group->second,
         findDifferences(group->first, order.front()->first, texts)});
  if (!order.empty())
    fold.common = findDifferences(order.front()->first, {}, texts);
}

bool Folder::hasAnswered(const std::string &name) const {
  auto found = rowIds.find(name);
  if (found == rowIds.end())
    return false;
  const NodeRow &row = rows[found->second];
  return row.hasInfo || row.hasBench;
}

/// A greeting or "exited with exit code 1" beside a report is ignored. clush
/// says the latter of many: "n[1-3] (3)".
void Folder::skipLines() {
  constexpr size_t maxSilent = 1000000; // many lines can name a million each
  for (const auto &[node, text] : lines) {
    StringRef set = node;
    if (set.ends_with(")"))
      set = set.split(" (").first;
    std::vector<std::string> names = {node};
    if (silent.size() < maxSilent)
      names = expandNames(set).value_or(names);
    erase_if(names, [&](const std::string &name) { return hasAnswered(name); });
    if (names.empty())
      continue;
    skip(SkipKind::foreign, node, text);
    append_range(silent, names);
  }
}

void Folder::findMissing(const std::vector<std::string> &expected) {
  append_range(silent, expected);
  llvm::sort(silent);
  silent.erase(llvm::unique(silent), silent.end());
  for (const std::string &name : silent)
    if (!hasAnswered(name))
      fold.missing.push_back(name);
}

Fold Folder::finish(const std::vector<std::string> &expected) {
  levelSizes();
  dropScattered();
  makeGroups();
  skipLines();
  findMissing(expected);
  for (const NodeRow &row : rows) {
    fold.nodes += row.hasInfo || row.hasBench;
    if (row.availablePages)
      fold.availablePages.push_back(*row.availablePages);
  }
  llvm::sort(fold.availablePages);
  erase_if(fold.figures, [](auto &figure) { return figure.values.empty(); });
  for (FoldFigure &figure : fold.figures)
    findSlow(figure);
  return std::move(fold);
}
