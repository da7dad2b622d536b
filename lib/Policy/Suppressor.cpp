// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When an entry counts as unused stands at Suppressor::complaints(): a run sees
// only some of a project's files, and an entry that is needed elsewhere must
// not be called useless.

#include "Policy/Glob.h"
#include "Policy/PathNames.h"
#include "Policy/Policy.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>
#include <deque>

using namespace llvm;
using namespace mpg;

namespace {
struct Entry {
  Suppression suppression;
  Glob path, symbol;
  bool expired = false;
  std::atomic<bool> asked = false; ///< a file that it is about was audited
  std::atomic<bool> used = false;

  bool covers(StringRef absolute) const {
    return suppression.path.empty() || path.match(absolute);
  }
  bool accepts(const Finding &finding) const {
    return suppression.id == idText(finding.id) &&
           (suppression.symbol.empty() || symbol.match(finding.where.symbol));
  }
};
} // namespace

struct Suppressor::State {
  std::deque<Entry> entries; // an atomic cannot be moved
};

/// \p glob was looked at when the suppression was read.
static Glob parsed(Expected<Glob> glob) {
  if (glob)
    return std::move(*glob);
  consumeError(glob.takeError());
  return {};
}

Suppressor::Suppressor(std::vector<Suppression> list, std::string today)
    : state(std::make_unique<State>()) {
  for (Suppression &suppression : list) {
    Entry &entry = state->entries.emplace_back();
    entry.path = parsed(Glob::parsePath(suppression.path));
    entry.symbol = parsed(Glob::parse(suppression.symbol));
    // Dates of this form are in the order of text.
    entry.expired = !suppression.expires.empty() && suppression.expires < today;
    entry.suppression = std::move(suppression);
  }
}

Suppressor::~Suppressor() = default;

bool mpg::canBeAccepted(const Finding &finding) {
  return finding.severity != Severity::error ||
         infoOf(finding.id).group != FindingGroup::malformed;
}

unsigned Suppressor::apply(std::vector<Finding> &findings, StringRef path,
                           const FindingSet *looked) {
  if (state->entries.empty())
    return 0;
  std::string absolute = absolutePath(path);
  SmallVector<Entry *, 8> here;
  for (Entry &entry : state->entries) {
    if (entry.expired || !entry.covers(absolute))
      continue;
    here.push_back(&entry);
    unsigned number = 0;
    if (!looked || (!StringRef(entry.suppression.id)
                         .drop_front(3)
                         .getAsInteger(10, number) &&
                    looked->contains(FindingId(number))))
      entry.asked = true;
  }
  size_t before = findings.size();
  erase_if(findings, [&](const Finding &finding) {
    bool isAccepted = false;
    // Each entry that fits is needed, or two that overlap would be called
    // unused in turn.
    for (Entry *entry : here)
      if (canBeAccepted(finding) && entry->accepts(finding))
        entry->used = isAccepted = true;
    return isAccepted;
  });
  return unsigned(before - findings.size());
}

/// "MPG130 (path bin/app, symbol sbrk)"
static std::string nameOf(const Suppression &suppression) {
  std::string name = suppression.id, separator = " (";
  for (auto [key, value] : {std::pair("path ", &suppression.path),
                            std::pair("symbol ", &suppression.symbol)})
    if (!value->empty()) {
      name += separator + key + *value;
      separator = ", ";
    }
  return separator == ", " ? name + ")" : name;
}

std::vector<std::string> Suppressor::complaints(bool whole) const {
  std::vector<std::string> lines;
  for (const Entry &entry : state->entries) {
    const Suppression &suppression = entry.suppression;
    std::string name = nameOf(suppression);
    bool isSure = whole || suppression.forThisRun ||
                  (!suppression.path.empty() && entry.path.isLiteral());
    if (entry.expired)
      lines.push_back(suppression.origin + ": the suppression of " + name +
                      " expired on " + suppression.expires +
                      " and does not count; remove it, or give a new date");
    else if (entry.asked && !entry.used && isSure)
      lines.push_back(suppression.origin + ": no finding needs the " +
                      "suppression of " + name + "; remove it");
  }
  for (std::string &line : lines)
    line = printable(line);
  return lines;
}
