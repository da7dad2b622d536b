// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BodyMap.h.

#include "BodyMap.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/StmtOpenMP.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace mpg;

static Stmt *subStatement(Stmt *statement) {
  if (auto *label = dyn_cast<LabelStmt>(statement))
    return label->getSubStmt();
  if (auto *label = dyn_cast<SwitchCase>(statement))
    return label->getSubStmt();
  return nullptr;
}

static void setSubStatement(Stmt *statement, Stmt *sub) {
  if (auto *label = dyn_cast<LabelStmt>(statement))
    label->setSubStmt(sub);
  else if (auto *label = dyn_cast<CaseStmt>(statement))
    label->setSubStmt(sub);
  else
    cast<DefaultStmt>(statement)->setSubStmt(sub);
}

/// \p statement without labels in front of it.
static Stmt *withoutLabels(Stmt *statement) {
  while (Stmt *sub = subStatement(statement))
    statement = sub;
  return statement;
}

BodyMap::BodyMap(FunctionDecl &function, const SourceManager &sources)
    : function(function), sources(sources) {
  frames.emplace_back();
  Stmt *body = function.getBody();
  walk(body, {0, 0, 0, false, false},
       [&](Stmt *stmt) { function.setBody(stmt); });
}

void BodyMap::walk(Stmt *statement, Spot spot,
                   std::function<void(Stmt *)> replace) {
  // Lambdas are functions of their own.
  if (!statement || isa<LambdaExpr, BlockExpr>(statement))
    return;
  if (auto *block = dyn_cast<CompoundStmt>(statement))
    return walkBlock(block, spot, std::move(replace));
  if (auto *captured = dyn_cast<CapturedStmt>(statement))
    return walkCaptured(captured, spot);
  if (auto *reference = dyn_cast<DeclRefExpr>(statement)) {
    if (isa<VarDecl>(reference->getDecl()))
      frames[spot.frame].references.push_back(reference);
  } else if (auto *member = dyn_cast<MemberExpr>(statement)) {
    if (isa<FieldDecl>(member->getMemberDecl()) &&
        isa<CXXThisExpr>(member->getBase()->IgnoreParenImpCasts()))
      frames[spot.frame].references.push_back(member);
  } else if (auto *handler = dyn_cast<CXXCatchStmt>(statement)) {
    if (VarDecl *variable = handler->getExceptionDecl())
      variables.push_back({variable, handler, spot.frame, Place(), false});
  }
  spot.isValue = isa<StmtExpr>(statement);
  spot.isSwitch = isa<SwitchStmt>(statement);
  walkChildren(statement, spot);
}

void BodyMap::walkChildren(Stmt *statement, Spot spot) {
  for (Stmt *&child : statement->children()) {
    if (!child)
      continue;
    if (isa<DeclStmt>(child) && !subStatement(statement))
      addVariables(child, statement, spot, false);
    walk(child, spot, [slot = &child](Stmt *changed) { *slot = changed; });
  }
}

void BodyMap::addVariables(Stmt *declaration, const Stmt *scope, Spot spot,
                           bool hasPlace) {
  for (Decl *declared : cast<DeclStmt>(declaration)->decls())
    if (auto *variable = dyn_cast<VarDecl>(declared))
      variables.push_back({variable, scope, spot.frame,
                           Place{spot.block, spot.index + 1}, hasPlace});
}

void BodyMap::walkBlock(CompoundStmt *statement, Spot spot,
                        std::function<void(Stmt *)> replace) {
  unsigned number = unsigned(blocks.size());
  blocks.push_back({statement, spot.block, spot.index, spot.frame, spot.isValue,
                    spot.isSwitch, std::move(replace)});
  spot = {number, 0, spot.frame, false, false};
  for (Stmt *&child : statement->body()) {
    Stmt *core = withoutLabels(child);
    if (isa<DeclStmt>(core))
      addVariables(core, statement, spot, true);
    walk(child, spot, [slot = &child](Stmt *changed) { *slot = changed; });
    ++spot.index;
  }
}

void BodyMap::walkCaptured(CapturedStmt *statement, Spot spot) {
  walkChildren(statement, spot); // what is captured
  spot.frame = unsigned(frames.size());
  frames.emplace_back();
  // The statement is stored behind them, and in the declaration.
  Stmt *&slot = *statement->children().end();
  walk(slot, spot, [statement, place = &slot](Stmt *changed) {
    *place = changed;
    statement->getCapturedDecl()->setBody(changed);
  });
}

/// Where \p statement ends in the source. For clang an OpenMP directive ends
/// with its line, and so do a loop or a branch that it is the body of.
static SourceLocation endLocation(const Stmt &statement) {
  for (const Stmt *last = &statement; last && !isa<Expr>(last);) {
    if (auto *captured = dyn_cast<CapturedStmt>(last))
      last = captured->getCapturedStmt();
    if (auto *directive = dyn_cast<OMPExecutableDirective>(last);
        directive && directive->hasAssociatedStmt())
      return endLocation(*directive->getAssociatedStmt());
    if (isa<CompoundStmt>(last))
      break;
    const Stmt *child = nullptr;
    for (const Stmt *one : last->children())
      child = one;
    last = child;
  }
  return statement.getEndLoc();
}

bool BodyMap::spans(const Stmt &statement, SourceLocation at) const {
  return isBefore(statement.getBeginLoc(), at) &&
         isBefore(at, endLocation(statement));
}

static bool hasLabel(const Stmt *statement) {
  return statement && (isa<LabelStmt, SwitchCase>(statement) ||
                       llvm::any_of(statement->children(), hasLabel));
}

static bool isJump(const Stmt *statement) {
  if (auto *expression = dyn_cast<Expr>(statement))
    return isa<CXXThrowExpr>(expression->IgnoreImplicit());
  return isa<ReturnStmt, GotoStmt, IndirectGotoStmt, BreakStmt, ContinueStmt>(
      statement);
}

bool BodyMap::isReached(const Place &place) const {
  const Block &block = blocks[place.block];
  bool isReached = !block.isSwitch;
  for (unsigned i = 0; i != place.index; ++i) {
    Stmt *statement = block.statement->body_begin()[i];
    isReached |= hasLabel(statement);
    isReached &= !isJump(withoutLabels(statement));
  }
  return isReached || place.inLabel;
}

Place BodyMap::getEnd(unsigned block) const {
  return {block, blocks[block].statement->size(), false, false};
}

Place BodyMap::getPlace(SourceLocation at) const {
  Place place;
  for (unsigned i = 0; i != blocks.size(); ++i)
    if (spans(*blocks[i].statement, at))
      place.block = i; // the innermost one is last
  for (Stmt *statement : blocks[place.block].statement->body()) {
    if (!isBefore(statement->getBeginLoc(), at))
      break;
    ++place.index;
    bool isLabel = subStatement(statement);
    Stmt *core = withoutLabels(statement);
    bool isAfterLabels = isLabel && !isBefore(core->getBeginLoc(), at);
    if (!isAfterLabels && !spans(*statement, at))
      continue;
    --place.index;
    place.inLabel = isLabel;
    place.isInside = !isAfterLabels;
    break;
  }
  return place;
}

VarDecl *BodyMap::visibleVariable(StringRef name, SourceLocation at,
                                  const Place &place) const {
  unsigned frame = blocks[place.block].frame;
  for (const Variable &declared : llvm::reverse(variables))
    if (declared.frame == frame && declared.variable->getName() == name &&
        isBefore(declared.variable->getLocation(), at) &&
        spans(*declared.scope, at))
      return declared.variable;
  if (frame == 0)
    for (ParmVarDecl *parameter : function.parameters())
      if (parameter->getName() == name)
        return parameter;
  return nullptr;
}

llvm::SmallVector<const BodyMap::Variable *, 2>
BodyMap::declaredLater(StringRef name, SourceLocation from,
                       SourceLocation to) const {
  llvm::SmallVector<const Variable *, 2> found;
  for (const Variable &declared : variables)
    if (declared.variable->getName() == name && declared.hasPlace &&
        isBefore(from, declared.variable->getLocation()) &&
        isBefore(declared.variable->getLocation(), to))
      found.push_back(&declared);
  return found;
}

bool BodyMap::isLocal(const Decl *declaration, unsigned frame) const {
  return llvm::any_of(variables, [&](const Variable &declared) {
    return declared.frame == frame && declared.variable == declaration;
  });
}

Expr *BodyMap::reference(StringRef name, const Place &place) const {
  unsigned frame = blocks[place.block].frame;
  for (Expr *expression : frames[frame].references) {
    auto *variable = dyn_cast<DeclRefExpr>(expression);
    const ValueDecl *declaration =
        variable ? variable->getDecl()
                 : cast<MemberExpr>(expression)->getMemberDecl();
    if (declaration->getDeclName().isIdentifier() &&
        declaration->getName() == name && !isLocal(declaration, frame))
      return expression;
  }
  return nullptr;
}

void BodyMap::insert(const Place &place, unsigned order, Stmt *statement) {
  // Sorted; those alike in the order in which they came.
  Insertion added = {place, order, statement};
  auto key = [](const Insertion &one) {
    return std::tuple(one.place.index, one.place.inLabel, one.order);
  };
  auto at = llvm::upper_bound(
      insertions, added,
      [&](const Insertion &a, const Insertion &b) { return key(a) < key(b); });
  insertions.insert(at, added);
}

void BodyMap::apply(const ASTContext &context) {
  // Inner blocks first: the outer one takes over what has become of them.
  for (unsigned number = unsigned(blocks.size()); number-- != 0;) {
    CompoundStmt *old = blocks[number].statement;
    llvm::SmallVector<Stmt *, 16> statements;
    auto addAt = [&](unsigned index, bool inLabel) {
      for (const Insertion &one : insertions)
        if (one.place.block == number && one.place.index == index &&
            one.place.inLabel == inLabel)
          statements.push_back(one.statement);
    };
    unsigned index = 0;
    for (Stmt *statement : old->body()) {
      addAt(index, false);
      size_t first = statements.size();
      addAt(index, true);
      if (statements.size() != first) {
        // case 1: marker; statement
        Stmt *label = statement;
        while (subStatement(subStatement(label)))
          label = subStatement(label);
        statement = subStatement(label);
        setSubStatement(label, statements[first]);
        statements[first] = old->body_begin()[index];
      }
      statements.push_back(statement);
      ++index;
    }
    addAt(index, false);
    if (statements.size() != old->size())
      blocks[number].replace(CompoundStmt::Create(
          context, statements, old->getStoredFPFeaturesOrDefault(),
          old->getLBracLoc(), old->getRBracLoc()));
  }
}
