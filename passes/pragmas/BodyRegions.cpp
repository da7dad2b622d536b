// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BodyRegions.h.

#include "BodyRegions.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Sema/Lookup.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace mpg;

/// Ways of the L1 cache of a core (HW:a64fx-l1d-way), and of the L2 cache of a
/// core memory group that a program can have (HW:a64fx-l2-ways-job).
static constexpr int l1Ways = 4, l2Ways = 14;

BodyRegions::BodyRegions(Sema &sema, FunctionDecl &function,
                         PragmaWarnings &warnings, unsigned &regionCount)
    : sema(sema), function(function), warnings(warnings),
      regionCount(regionCount), map(function, sema.getSourceManager()),
      markers(sema, function), isPattern(function.isDependentContext()) {
  isEmitted = !isPattern && !function.hasAttr<NakedAttr>() &&
              hasMarkers(sema.getASTContext().getTargetInfo());
}

// Begins and ends

void BodyRegions::handle(ArrayRef<PragmaUse *> uses) {
  for (PragmaUse *use : uses) {
    ++order;
    if (use->kind == PragmaUse::begin)
      begin(*use);
    else if (use->kind == PragmaUse::end)
      end(*use);
    else if (use->kind == PragmaUse::loop)
      loop(*use);
    else
      procedure(*use);
  }
  for (Region &region : open)
    warnings.ignore(*region.begin,
                    llvm::Twine("'") + region.begin->directive->begin +
                        "' has no '" + region.begin->directive->end +
                        "' after it in this function");
  if (isEmitted)
    map.apply(sema.getASTContext());
}

void BodyRegions::begin(PragmaUse &use) {
  open.push_back(
      {&use, nullptr, map.getPlace(use.at), Place(), ++regionCount, order, 0});
}

void BodyRegions::end(PragmaUse &use) {
  auto found = llvm::find_if(llvm::reverse(open), [&](const Region &region) {
    return region.begin->directive->isAssign() == use.directive->isAssign();
  });
  if (found == open.rend())
    return warnings.ignore(use, llvm::Twine("'") + use.directive->end +
                                    "' without a '" + use.directive->begin +
                                    "' before it");
  Region region = *found;
  open.erase(std::next(found).base());
  region.end = &use;
  region.to = map.getPlace(use.at);
  region.endOrder = order;
  if (findEnd(region))
    complete(region);
}

/// Puts begin and end of \p region into one block. False, with a warning, where
/// that would mean other code.
bool BodyRegions::findEnd(Region &region) {
  PragmaUse &begin = *region.begin, &end = *region.end;
  unsigned inner = region.from.block, outer = region.to.block;
  bool isLast = !region.to.isInside;
  // if (n) { begin ... } end: the region ends with its block.
  for (unsigned block = inner; block != outer && isLast;
       block = map.block(block).parent) {
    const BodyMap::Block &one = map.block(block);
    isLast = block != 0 && !one.isValue;
    unsigned next =
        one.parent == outer ? region.to.index : map.getEnd(one.parent).index;
    isLast &= one.parentIndex + 1 == next && !region.to.inLabel;
  }
  // ({ ... end }): the last statement is the value.
  isLast &= !(map.block(inner).isValue && inner == outer &&
              region.to.index == map.getEnd(outer).index);
  if (isLast) {
    if (inner != outer)
      region.to = map.getEnd(inner);
    return true;
  }
  if (begin.isWrong) {
    end.isWrong = end.isReported = true;
    return false;
  }
  warnings.ignore(begin, llvm::Twine("'") + end.directive->end +
                             "' is in another block than '" +
                             begin.directive->begin + "'");
  warnings.ignoreToo(end, "the region ends here; write both in one block");
  return false;
}

void BodyRegions::procedure(PragmaUse &use) {
  bool isBefore = sema.getSourceManager().isBeforeInTranslationUnit(
      use.at, function.getBody()->getBeginLoc());
  Place place = isBefore || !use.directive->isAssign() ? map.start()
                                                       : map.getPlace(use.at);
  if (!use.directive->isAssign() && !use.isWrong) {
    if (procedureWays) {
      warnings.ignore(use, "the function has its cache ways already");
      return warnings.ignoreToo(*procedureWays, "given here");
    }
    procedureWays = &use;
  }
  complete({&use, nullptr, place, place, ++regionCount, order, order});
}

/// MpgPasses.so looks for the loop after the marker.
void BodyRegions::loop(PragmaUse &use) {
  if (use.isWrong || isPattern || !isEmitted)
    return;
  std::string text = std::string("mpg:1:loop:") + use.directive->choice;
  if (use.directive->form == LineForm::lines)
    text += llvm::utostr(use.lines);
  insert(map.getPlace(use.at), order, markers.make(use.name, text));
}

/// \p region is well formed: only its request can be wrong.
void BodyRegions::complete(const Region &region) {
  if (region.begin->isWrong || isPattern)
    return;
  if (function.hasAttr<NakedAttr>())
    return warnings.ignore(*region.begin, "a naked function cannot hold it");
  if (region.end && !map.isReached(region.from))
    return warnings.ignore(*region.begin,
                           "no code leads here; write it in front of the "
                           "switch, or behind a label");
  if (region.begin->directive->isAssign())
    addNames(region);
  else
    addWays(region);
}

std::string BodyRegions::marker(const Region &region, StringRef kind,
                                StringRef text) const {
  return ("mpg:1:" + kind + "@" + llvm::Twine(region.number) + ":" + text)
      .str();
}

void BodyRegions::insert(const Place &place, unsigned order, Stmt *statement) {
  if (isEmitted)
    map.insert(place, order, statement);
}

// The effect of a region

void BodyRegions::addNames(const Region &region) {
  std::string complaint;
  SourceLocation where;
  for (const VariableName &name : region.begin->names) {
    std::string wrong = addName(region, name);
    if (wrong.empty())
      continue;
    if (complaint.empty())
      where = name.where;
    complaint += (complaint.empty() ? "'" : "; '") + name.text +
                 "' is ignored: " + wrong;
  }
  if (!complaint.empty())
    warnings.warn(*region.begin, where, complaint);
  if (region.end && isEmitted)
    insert(region.to, region.endOrder,
           markers.make(region.end->name, marker(region, "end-assign", "")));
}

static bool isPointerOrArray(const Expr &variable) {
  QualType type = variable.getType();
  return (type->isPointerType() && !type.isVolatileQualified()) ||
         type->isArrayType();
}

/// Adds the marker for one variable. Returns why it cannot have one, or "".
std::string BodyRegions::addName(const Region &region,
                                 const VariableName &name) {
  PragmaUse &use = *region.begin;
  if (name.isExpression)
    return "only a variable can be named, so name the array, or a pointer to "
           "the data";
  Place place = region.from;
  Expr *variable = find(region, name);
  if (!variable && name.words.size() == 1) {
    SourceLocation to =
        region.end ? region.end->at : function.getBody()->getEndLoc();
    auto later = map.declaredLater(name.words.front()->getName(), use.at, to);
    if (later.size() == 1) {
      place = later.front()->after;
      variable = markers.name(later.front()->variable, use.name);
    }
  }
  if (!variable)
    return "no variable of this name is declared here, or this part of the "
           "code does not use it";
  if (!isPointerOrArray(*variable))
    return "it is neither an array nor a pointer; of a class such as "
           "std::vector name a pointer that you take from it";
  StringRef kind = region.end ? "assign" : "procedure-assign";
  if (isEmitted)
    insert(place, region.order,
           markers.make(use.name, marker(region, kind, "sector=1"), variable));
  return "";
}

/// Reads \p count: digits, a constant, or an integer variable.
std::optional<BodyRegions::Ways> BodyRegions::evaluate(const Region &region,
                                                       const WayCount &count) {
  if (!count.name)
    return Ways{count.number, nullptr};
  VariableName name;
  name.words.push_back(count.name);
  if (auto *constant = dyn_cast_or_null<EnumConstantDecl>(lookup(name)))
    return Ways{int(constant->getInitVal().getSExtValue()), nullptr};
  Expr *variable = find(region, name);
  if (!variable || !variable->getType()->isIntegralOrEnumerationType() ||
      variable->getType().isVolatileQualified()) {
    warnings.ignore(
        *region.begin, count.where,
        "'" + count.name->getName() +
            "' is not an integer variable or constant visible here");
    return std::nullopt;
  }
  Expr::EvalResult result;
  if (!variable->isValueDependent() &&
      variable->EvaluateAsInt(result, sema.getASTContext()))
    return Ways{int(result.Val.getInt().getLimitedValue(1000)), nullptr};
  return Ways{std::nullopt, variable};
}

/// Ways of sector 1 of the cache \p cache, which has \p limit. Anything that is
/// not as it should be is added to \p complaint. Nothing: the directive is
/// ignored.
std::optional<BodyRegions::Ways>
BodyRegions::computeWays(const Region &region,
                         const std::optional<LevelWays> &level, int limit,
                         StringRef cache, std::string &complaint) {
  if (!level)
    return Ways();
  std::optional<Ways> ways = evaluate(region, level->sector1);
  std::optional<Ways> rest = Ways();
  if (level->sector0)
    rest = evaluate(region, *level->sector0);
  if (!ways || !rest)
    return std::nullopt;
  for (const Ways *one : {&*rest, &*ways})
    if (one->number && *one->number < 0) {
      warnings.ignore(*region.begin, level->sector1.where,
                      llvm::Twine(*one->number) +
                          " cache ways are less than none");
      return std::nullopt;
    }
  if (!ways->number)
    return ways;
  int asked = *ways->number;
  ways->number = std::min(asked, limit);
  std::string cacheText = " ways of the " + cache.str() + " cache";
  std::string text;
  // Programs for the machines before A64FX have pairs for caches of 12, 16 or
  // 24 ways.
  if (rest->number && *rest->number + asked != limit)
    text = llvm::itostr(*rest->number) + " and " + llvm::itostr(asked) +
           cacheText + " are not the " + llvm::itostr(limit) +
           " that a program has; sector 1 gets " + llvm::itostr(*ways->number) +
           " and sector 0 the other " + llvm::itostr(limit - *ways->number);
  else if (asked > limit)
    text = "a program has " + llvm::itostr(limit) + cacheText + ", not " +
           llvm::itostr(asked) + "; taken as " + llvm::itostr(limit);
  if (!text.empty())
    complaint += (complaint.empty() ? "" : "; ") + text;
  return ways;
}

void BodyRegions::addWays(const Region &region) {
  PragmaUse &use = *region.begin;
  std::string complaint;
  std::optional<Ways> l1 = computeWays(region, use.l1, l1Ways, "L1", complaint);
  if (!l1)
    return;
  std::optional<Ways> l2 = computeWays(region, use.l2, l2Ways, "L2", complaint);
  if (!l2)
    return;
  if (!complaint.empty())
    warnings.warn(use, (use.l1 ? use.l1 : use.l2)->sector1.where, complaint);
  if (!isEmitted)
    return;
  std::string text;
  auto addLevel = [&](StringRef name, const Ways &ways) {
    if (ways.variable)
      insert(region.from, region.order,
             markers.make(use.name, marker(region, "way-value", name),
                          ways.variable));
    if (ways.number)
      text += (text.empty() ? "" : ",") + name.str() + "=" +
              llvm::itostr(*ways.number);
  };
  addLevel("l2", *l2);
  addLevel("l1", *l1);
  insert(region.from, region.order,
         markers.make(
             use.name,
             marker(region, region.end ? "ways" : "procedure-ways", text)));
  if (region.end)
    insert(region.to, region.endOrder,
           markers.make(region.end->name, marker(region, "end-ways", "")));
}

// Names

/// Looks \p name up in what is around the function, from inside to outside.
NamedDecl *BodyRegions::lookup(const VariableName &name) {
  bool isQualified = name.isGlobal || name.words.size() > 1;
  DeclContext *context = isQualified && name.isGlobal
                             ? sema.getASTContext().getTranslationUnitDecl()
                             : static_cast<DeclContext *>(&function);
  auto find = [&](DeclContext *in, const IdentifierInfo *word) {
    LookupResult result(sema, DeclarationName(word), SourceLocation(),
                        Sema::LookupOrdinaryName);
    result.suppressDiagnostics();
    sema.LookupQualifiedName(result, in, /*InUnqualifiedLookup=*/true);
    return result.isSingleResult() ? result.getFoundDecl() : nullptr;
  };
  NamedDecl *found = nullptr;
  for (; context && !found; context = context->getParent())
    found = find(context, name.words.front());
  for (const IdentifierInfo *word : llvm::drop_begin(name.words)) {
    DeclContext *inner = nullptr;
    if (auto *space = dyn_cast_or_null<NamespaceDecl>(found))
      inner = space;
    else if (auto *record = dyn_cast_or_null<CXXRecordDecl>(found))
      inner = record->getDefinition();
    found = inner ? find(inner, word) : nullptr;
  }
  return found;
}

/// The variable \p name where \p region begins; nullptr if it does not exist or
/// the code there does not capture it.
Expr *BodyRegions::find(const Region &region, const VariableName &name) {
  PragmaUse &use = *region.begin;
  if (!name.isGlobal && name.words.size() == 1) {
    StringRef word = name.words.front()->getName();
    if (VarDecl *local = map.visibleVariable(word, use.at, region.from))
      return markers.name(local, use.name);
    if (Expr *known = map.reference(word, region.from))
      return known;
  }
  NamedDecl *found = lookup(name);
  auto *variable = dyn_cast_or_null<VarDecl>(found);
  if (!variable || !variable->hasGlobalStorage() ||
      (!variable->isFromASTFile() &&
       !sema.getSourceManager().isBeforeInTranslationUnit(
           variable->getLocation(), use.at)))
    return nullptr;
  return markers.name(variable, use.name);
}
