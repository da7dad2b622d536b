// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tags/UseOrder.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/User.h"

using namespace llvm;
using namespace mpg;

void UseOrder::keepList(Value &value) {
  if (isa<Constant>(value)) // it has users in other functions
    return;
  auto [place, isNew] = lists.try_emplace(&value);
  if (!isNew)
    return;
  place->second.value = &value;
  Places &places = place->second.places;
  for (const User *user : value.users())
    places.try_emplace(user, places.size());
}

void UseOrder::keep(Value &old) {
  keepList(old);
  if (auto *instruction = dyn_cast<Instruction>(&old))
    for (Value *operand : instruction->operands())
      keepList(*operand);
}

void UseOrder::addTwin(Value &old, Value &twin) {
  originals[&twin] = &old;
  twins.push_back({&old, &twin});
}

void UseOrder::restoreList(Value &value, const Places &places) const {
  auto rank = [&](const Use &use) {
    const Value *user = use.getUser();
    bool isTwin = originals.contains(user);
    auto place = places.find(isTwin ? originals.lookup(user) : user);
    return std::make_tuple(place == places.end() ? ~0U : place->second, isTwin,
                           use.getOperandNo());
  };
  value.sortUseList([&](const Use &one, const Use &other) {
    return rank(one) < rank(other);
  });
}

void UseOrder::restore() {
  for (auto &[old, list] : lists)
    if (Value *value = list.value)
      restoreList(*value, list.places);
  for (auto &[old, twin] : twins)
    if (auto list = lists.find(old); list != lists.end())
      restoreList(*twin, list->second.places);
}
