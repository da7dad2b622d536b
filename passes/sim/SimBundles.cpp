// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimBundles.h.

#include "sim/SimBundles.h"
#include "sim/SimTable.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

using namespace llvm;
using namespace mpg;

/// For fewer a record each is shorter.
static constexpr size_t leastMembers = 3;
/// Addresses further apart than the line of any machine are of no use together.
static constexpr int64_t farthest = 256;
/// To look for a common address is a search.
static constexpr size_t mostMembers = 64;

namespace {
/// An address that is written, for those at fixed distances from it.
struct Base {
  const SimRecord *record;
  const SCEV *address; ///< without the record's offset
};
} // namespace

/// The bytes from \p base to \p record, if they are always the same.
static std::optional<int64_t>
distance(const Base &base, const SimRecord &record, ScalarEvolution &scev) {
  if (!base.address || !record.address)
    return std::nullopt;
  auto *difference =
      dyn_cast<SCEVConstant>(scev.getMinusSCEV(record.address, base.address));
  if (!difference || difference->getAPInt().getSignificantBits() > 32)
    return std::nullopt;
  int64_t bytes = difference->getAPInt().getSExtValue() + record.offset -
                  base.record->offset;
  return std::abs(bytes) <= farthest ? std::optional(bytes) : std::nullopt;
}

/// The records of \p members as one bundle, if that is shorter.
static void addBundle(ArrayRef<SimRecord> members, SimTable &table,
                      ScalarEvolution &scev, bool checks, SimRecords &result) {
  SmallVector<Base, 16> bases;
  SmallVector<SimTable::Member, 16> offsets;
  for (const SimRecord &record : members) {
    std::optional<int64_t> bytes;
    size_t at = bases.size();
    while (at && !(bytes = distance(bases[at - 1], record, scev)))
      --at;
    if (!bytes)
      bases.push_back({&record, record.address});
    offsets.push_back(
        {unsigned(bytes ? at - 1 : bases.size() - 1), bytes.value_or(0)});
  }
  if (1 + bases.size() / 2 >= members.size()) {
    result.append(members.begin(), members.end());
    return;
  }
  table.addBundle(members[0].number, offsets);
  SimRecord head = *bases[0].record;
  head.kind = MPG_SIM_BUNDLE;
  head.number = members[0].number;
  head.more = uint64_t(members.size()) << MPG_SIM_ACCESSES_SHIFT |
              uint64_t(bases.size()) << MPG_SIM_ADDRESSES_SHIFT;
  result.push_back(head);
  for (size_t at = 1; at < bases.size(); at += 2) {
    SimRecord pair = *bases[at].record;
    pair.isPair = true;
    pair.second = at + 1 < bases.size() ? bases[at + 1].record->value : nullptr;
    result.push_back(pair);
  }
  if (!checks)
    return;
  for (SimRecord record : members) {
    record.kind = MPG_SIM_CHECKED;
    result.push_back(record);
  }
}

/// Whether \p record is an access that is always made, at the place behind
/// \p before.
static bool goesOn(const SimRecord &record, const SimRecord &before) {
  return record.kind == MPG_SIM_ACCESS && !record.onlyIf &&
         record.number == before.number + 1;
}

SimRecords mpg::bundleUp(const SimRecords &records, SimTable &table,
                         ScalarEvolution &scev, bool checks) {
  SimRecords result;
  for (size_t begin = 0, end; begin < records.size(); begin = end) {
    const SimRecord &first = records[begin];
    end = begin + 1;
    if (first.kind == MPG_SIM_ACCESS && !first.onlyIf)
      while (end < records.size() && end - begin < mostMembers &&
             goesOn(records[end], records[end - 1]))
        ++end;
    ArrayRef<SimRecord> members(&records[begin], end - begin);
    if (members.size() >= leastMembers)
      addBundle(members, table, scev, checks, result);
    else
      result.append(members.begin(), members.end());
  }
  return result;
}
