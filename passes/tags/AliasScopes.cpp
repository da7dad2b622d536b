// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores the results of alias analysis about objects as alias scopes, while
// their addresses have no tags. See TagForm.h.

#include "base/Access.h"
#include "tags/TagForm.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral domainName = "mpg objects";

/// More would be a long list on each access, and a long time to make it.
static constexpr unsigned maxObjects = 32;

using Objects = SmallVector<const Value *, 4>;

namespace {
class ScopeWriter {
public:
  ScopeWriter(AAResults &aliases, LoopInfo &loops, LLVMContext &context)
      : aliases(aliases), loops(loops), context(context) {}
  void addTagged(Instruction &access);
  void write(Instruction &access);
  bool isWorthIt() const { return !scopes.empty(); }

private:
  using Scopes = SmallVector<Metadata *, 8>;

  Objects findObjects(Instruction &access) const;
  bool varies(const Value &object) const;
  bool areApart(const Value &tagged, const Value &other);
  ArrayRef<Metadata *> scopesApartFrom(const Value &object);
  Scopes scopesApartFrom(const Objects &objects);

  AAResults &aliases;
  LoopInfo &loops;
  LLVMContext &context;
  MDNode *domain = nullptr;
  /// The scope of each object that is accessed with a tag.
  MapVector<const Value *, MDNode *> scopes;
  DenseMap<const Value *, Scopes> apart;
  DenseMap<const Instruction *, Objects> taggedObjects;
};
} // namespace

/// The objects that \p access may refer to, if it is in a loop.
Objects ScopeWriter::findObjects(Instruction &access) const {
  Objects objects;
  Use *address = taggableAddress(access);
  if (address && address->get()->getType()->isPointerTy() &&
      loops.getLoopFor(access.getParent()))
    getUnderlyingObjects(address->get(), objects, &loops, /*MaxLookup=*/0);
  return objects;
}

void ScopeWriter::addTagged(Instruction &access) {
  Objects objects = findObjects(access);
  if (objects.empty() || scopes.size() + objects.size() > maxObjects)
    return;
  MDBuilder builder(context);
  if (!domain)
    domain = builder.createAnonymousAliasScopeDomain(domainName);
  for (const Value *object : objects)
    if (MDNode *&scope = scopes[object]; !scope)
      scope = builder.createAnonymousAliasScope(domain);
  taggedObjects[&access] = objects;
}

/// Whether \p object may be a different one in each iteration of a loop, or of
/// a cycle of blocks that is not a loop.
bool ScopeWriter::varies(const Value &object) const {
  auto *instruction = dyn_cast<Instruction>(&object);
  if (!instruction)
    return false;
  auto *block = const_cast<BasicBlock *>(instruction->getParent());
  SmallVector<BasicBlock *, 4> next(successors(block));
  return !next.empty() &&
         isPotentiallyReachableFromMany(next, block, nullptr, nullptr, &loops);
}

bool ScopeWriter::areApart(const Value &tagged, const Value &other) {
  // Alias analysis covers one iteration, a scope all of them: two disjoint rows
  // prove nothing about the next ones.
  if (varies(tagged) && varies(other))
    return false;
  MemoryLocation location = MemoryLocation::getBeforeOrAfter(&tagged);
  return isNoModRef(aliases.getModRefInfoMask(location)) || // never written
         aliases.alias(location, MemoryLocation::getBeforeOrAfter(&other)) ==
             AliasResult::NoAlias;
}

ArrayRef<Metadata *> ScopeWriter::scopesApartFrom(const Value &object) {
  auto [place, isNew] = apart.try_emplace(&object);
  if (isNew)
    for (auto &[tagged, scope] : scopes)
      if (areApart(*tagged, object))
        place->second.push_back(scope);
  return place->second;
}

/// The scopes that none of \p objects has anything to do with.
ScopeWriter::Scopes ScopeWriter::scopesApartFrom(const Objects &objects) {
  if (objects.empty())
    return {};
  Scopes common(scopesApartFrom(*objects.front()));
  for (const Value *object : drop_begin(objects)) {
    ArrayRef<Metadata *> found = scopesApartFrom(*object);
    erase_if(common,
             [&](Metadata *scope) { return !is_contained(found, scope); });
  }
  return common;
}

static void addScopes(Instruction &access, unsigned kind,
                      ArrayRef<Metadata *> scopes) {
  if (!scopes.empty())
    access.setMetadata(
        kind, MDNode::concatenate(access.getMetadata(kind),
                                  MDNode::get(access.getContext(), scopes)));
}

void ScopeWriter::write(Instruction &access) {
  Scopes own;
  for (const Value *object : taggedObjects.lookup(&access))
    own.push_back(scopes.lookup(object));
  addScopes(access, LLVMContext::MD_alias_scope, own);
  addScopes(access, LLVMContext::MD_noalias,
            scopesApartFrom(findObjects(access)));
}

void mpg::writeObjectScopes(Function &function, ArrayRef<Instruction *> tagged,
                            AAResults &aliases, LoopInfo &loops) {
  ScopeWriter writer(aliases, loops, function.getContext());
  for (Instruction *access : tagged)
    writer.addTagged(*access);
  if (writer.isWorthIt())
    for (Instruction &instruction : instructions(function))
      writer.write(instruction);
}

static bool isOurs(const MDOperand &scope) {
  auto *node = dyn_cast_or_null<MDNode>(scope);
  const MDNode *domain = node ? AliasScopeNode(node).getDomain() : nullptr;
  return domain && domain->getNumOperands() > 1 &&
         isa_and_nonnull<MDString>(domain->getOperand(1)) &&
         cast<MDString>(domain->getOperand(1))->getString() == domainName;
}

void mpg::eraseObjectScopes(Instruction &access) {
  for (unsigned kind : {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias}) {
    MDNode *scopes = access.getMetadata(kind);
    if (!scopes || none_of(scopes->operands(), isOurs))
      continue;
    SmallVector<Metadata *, 8> others;
    for (const MDOperand &scope : scopes->operands())
      if (!isOurs(scope))
        others.push_back(scope);
    access.setMetadata(kind, others.empty()
                                 ? nullptr
                                 : MDNode::get(access.getContext(), others));
  }
}
