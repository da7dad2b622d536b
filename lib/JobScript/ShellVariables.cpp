// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ShellExpand.h: values that are known in part, and the variables that hold
// them.

#include "JobScript/ShellExpand.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

ShellValue ShellValue::notKnown(StringRef written) {
  ShellValue value;
  value.addUnknown(written);
  return value;
}

void ShellValue::addUnknown(StringRef written) {
  unknown.push_back({text.size(), text.size() + written.size()});
  text += written;
}

void ShellValue::add(const ShellValue &value) {
  for (const Part &part : value.unknown)
    unknown.push_back({text.size() + part.begin, text.size() + part.end});
  text += value.text;
}

size_t ShellValue::endOfUnknown(size_t at) const {
  auto part = partition_point(
      unknown, [at](const Part &part) { return part.end <= at; });
  return part != unknown.end() && part->begin <= at ? part->end : at;
}

ShellValue ShellValue::slice(size_t begin, size_t end) const {
  ShellValue value(StringRef(text).slice(begin, end));
  auto part = partition_point(
      unknown, [begin](const Part &part) { return part.begin < begin; });
  for (; part != unknown.end() && part->end <= end; ++part)
    value.unknown.push_back({part->begin - begin, part->end - begin});
  return value;
}

JobWord ShellValue::word() const {
  JobWord word;
  word.text = text;
  std::vector<StringRef> names;
  for (const Part &part : unknown) {
    StringRef name = StringRef(text).slice(part.begin, part.end);
    // A few of them say enough; a word may hold thousands.
    if (names.size() < 8 && !is_contained(names, name))
      names.push_back(name);
  }
  for (StringRef name : names)
    word.unknown += (word.unknown.empty() ? "" : ", ") + name.str();
  return word;
}

std::vector<JobWord> ShellValue::split(char separator) const {
  std::vector<JobWord> parts;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    while (endOfUnknown(at) > at)
      at = endOfUnknown(at);
    if (at < text.size() && text[at] != separator)
      continue;
    parts.push_back(slice(begin, at).word());
    begin = at + 1;
  }
  return parts;
}

const ShellVariable *ShellVariables::find(StringRef name) const {
  auto at = variables.find(name);
  return at == variables.end() ? nullptr : &at->second;
}

void ShellVariables::put(StringRef name, ShellVariable variable) {
  auto [at, isNew] = variables.try_emplace(name);
  Change change{name.str(), std::nullopt};
  if (!isNew)
    change.before = std::move(at->second);
  at->second = std::move(variable);
  changes.push_back(std::move(change));
}

void ShellVariables::setValue(StringRef name, ShellValue value, unsigned line) {
  ShellVariable variable;
  if (const ShellVariable *before = find(name)) {
    if (before->readOnly)
      return; // the shell reports it and goes on
    variable.exported = before->exported;
  }
  variable.value = std::move(value);
  variable.line = line;
  put(name, std::move(variable));
}

void ShellVariables::forget(StringRef name, unsigned line) {
  ShellVariable variable;
  if (const ShellVariable *before = find(name)) {
    if (before->readOnly)
      return;
    variable.exported = before->exported;
  }
  variable.value = ShellValue::notKnown("$" + name.str());
  variable.certain = false;
  variable.line = line;
  put(name, std::move(variable));
}

void ShellVariables::restore(StringRef name,
                             std::optional<ShellVariable> before) {
  if (before)
    return put(name, std::move(*before));
  auto at = variables.find(name);
  if (at == variables.end())
    return;
  changes.push_back({name.str(), std::move(at->second)});
  variables.erase(at);
}

void ShellVariables::undo(Mark mark) {
  while (changes.size() > mark) {
    Change &change = changes.back();
    if (change.before)
      variables[change.name] = std::move(*change.before);
    else
      variables.erase(change.name);
    changes.pop_back();
  }
}

StringMap<ShellVariable> ShellVariables::changedSince(Mark mark) const {
  StringMap<ShellVariable> changed;
  for (size_t i = mark; i < changes.size(); ++i)
    if (const ShellVariable *now = find(changes[i].name))
      changed.try_emplace(changes[i].name, *now);
  return changed;
}

/// Whether the two cannot be told apart.
static bool agree(const ShellVariable &a, const ShellVariable &b) {
  if (a.set != b.set || a.exported != b.exported || a.readOnly != b.readOnly)
    return false;
  return !a.set || a.value.isSame(b.value);
}

void ShellBranches::endBranch(bool reached) {
  StringMap<ShellVariable> changed = variables.changedSince(start);
  variables.undo(start);
  if (!reached)
    return;
  ++branches;
  for (auto &entry : changed) {
    auto [at, isNew] = outcomes.try_emplace(entry.first());
    Outcome &outcome = at->second;
    if (isNew) {
      outcome.variable = std::move(entry.second);
      continue;
    }
    ++outcome.branches;
    outcome.same = outcome.same && agree(outcome.variable, entry.second);
    outcome.variable.exported |= entry.second.exported;
    outcome.variable.line = entry.second.line;
  }
}

void ShellBranches::merge(bool complete) {
  unsigned all = branches + (complete ? 0 : 1);
  for (auto &entry : outcomes) {
    Outcome &outcome = entry.second;
    ShellVariable after = outcome.variable;
    const ShellVariable *before = variables.find(entry.first());
    bool same = outcome.same;
    if (outcome.branches < all) {
      same = same && before && agree(after, *before);
      after.exported |= before && before->exported;
    }
    if (!same) {
      after.value = ShellValue::notKnown("$" + entry.first().str());
      after.set = true;
      after.certain = false;
      after.readOnly = false;
    }
    variables.put(entry.first(), std::move(after));
  }
}

void ShellBranches::mergeAsUnknown() {
  for (auto &entry : outcomes)
    entry.second.same = false;
  merge(/*complete=*/true);
}
