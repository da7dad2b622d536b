// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SectorRegions.h.

#include "SectorRegions.h"
#include "BodyRegions.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace mpg;

namespace {
/// Functions with a body, inner ones and the calls of lambdas as well.
class FunctionFinder : public RecursiveASTVisitor<FunctionFinder> {
public:
  bool VisitFunctionDecl(FunctionDecl *function) {
    if (function->doesThisDeclarationHaveABody() && function->getBody())
      found.push_back(function);
    return true;
  }
  bool VisitLambdaExpr(LambdaExpr *lambda) {
    return VisitFunctionDecl(lambda->getCallOperator());
  }

  llvm::SmallVector<FunctionDecl *, 16> found;
};
} // namespace

void SectorRegions::readPragma(const Directive &directive, PragmaUse::Kind kind,
                               SourceLocation pragma, const Token &name) {
  uses.push_back({&directive, kind, pragma, name.getLocation(), {}, {}, {}});
  LineForm form = kind == PragmaUse::end ? LineForm::none : directive.form;
  parseLine(pp, readLine(pp, form), uses.back(), warnings);
}

/// The declaration of \p function, with its template.
static const Decl *findDefinition(const FunctionDecl &function) {
  const FunctionDecl *pattern = function.getTemplateInstantiationPattern();
  const FunctionDecl *written = pattern ? pattern : &function;
  if (const Decl *whole = written->getDescribedFunctionTemplate())
    return whole;
  return written;
}

/// Whether `#pragma procedure` \p use stands directly before \p function.
bool SectorRegions::isPendingFor(const PragmaUse &use,
                                 const FunctionDecl &function) {
  const SourceManager &sources = pp.getSourceManager();
  const Decl *whole = findDefinition(function);
  if (use.kind != PragmaUse::procedure ||
      !sources.isBeforeInTranslationUnit(use.at,
                                         function.getBody()->getBeginLoc()) ||
      !sources.isWrittenInSameFile(use.at, whole->getBeginLoc()))
    return false;
  const DeclContext *around = whole->getLexicalDeclContext();
  if (auto *outer = dyn_cast<Decl>(around))
    if (!isa<TranslationUnitDecl>(outer) &&
        sources.isBeforeInTranslationUnit(use.at, outer->getBeginLoc()))
      return isa<LinkageSpecDecl>(outer) &&
             !cast<LinkageSpecDecl>(outer)->hasBraces();
  const Decl *previous = nullptr;
  for (const Decl *one : around->noload_decls()) {
    if (one == whole)
      break;
    auto *tag = dyn_cast<TagDecl>(one);
    if (!one->isImplicit() && !(tag && tag->isEmbeddedInDeclarator()))
      previous = one;
  }
  return !previous ||
         !sources.isBeforeInTranslationUnit(use.at, previous->getEndLoc());
}

void SectorRegions::handleFunction(FunctionDecl &function,
                                   ArrayRef<FunctionDecl *> all) {
  const SourceManager &sources = pp.getSourceManager();
  auto spans = [&](const FunctionDecl &one, SourceLocation at) {
    SourceRange range = one.getBody()->getSourceRange();
    return sources.isBeforeInTranslationUnit(range.getBegin(), at) &&
           sources.isBeforeInTranslationUnit(at, range.getEnd());
  };
  llvm::SmallVector<PragmaUse *, 8> own;
  for (PragmaUse &use : uses) {
    bool isInner = llvm::any_of(all, [&](const FunctionDecl *other) {
      return other != &function && spans(*other, use.at) &&
             spans(function, other->getBody()->getBeginLoc());
    });
    if ((spans(function, use.at) && !isInner) || isPendingFor(use, function)) {
      use.isInFunction = true;
      use.isInTemplate |= function.isDependentContext();
      own.push_back(&use);
    }
  }
  if (!own.empty())
    BodyRegions(*sema, function, warnings, regionCount).handle(own);
}

void SectorRegions::handle(Decl *declaration) {
  if (uses.empty() || pp.getDiagnostics().hasErrorOccurred())
    return;
  FunctionFinder finder;
  // Instantiations are in no namespace.
  if (auto *function = dyn_cast<FunctionDecl>(declaration);
      function && function->isTemplateInstantiation())
    finder.TraverseDecl(function);
  // A function of a namespace that is not complete may be called already.
  while (!declaration->getLexicalDeclContext()->isTranslationUnit())
    declaration = cast<Decl>(declaration->getLexicalDeclContext());
  finder.TraverseDecl(declaration);
  for (FunctionDecl *function : finder.found)
    if (handled.insert(function).second)
      handleFunction(*function, finder.found);
}

/// The code of a template is made where it is used. Of a precompiled header or
/// a module that is another compilation, which does not see the pragmas.
void SectorRegions::reportTemplates() {
  const LangOptions &language = pp.getLangOpts();
  bool isModule = language.isCompilingModule();
  if ((!isModule && !language.CompilingPCH) || !hasMarkers(pp.getTargetInfo()))
    return;
  auto isLost = [](const PragmaUse &use) {
    return use.isInTemplate && use.kind != PragmaUse::end && !use.isWrong;
  };
  auto first = llvm::find_if(uses, isLost);
  if (first == uses.end())
    return;
  auto count = unsigned(llvm::count_if(uses, isLost));
  first->isReported = false;
  warnings.warn(
      *first, first->name,
      (count == 1
           ? "a directive of a template has no effect"
           : llvm::Twine(count) + " directives of templates have no effect") +
          llvm::Twine(" where this ") +
          (isModule ? "module is imported" : "precompiled header is used") +
          "; include the templates as text there, or instantiate them here");
}

void SectorRegions::finish() {
  if (pp.getDiagnostics().hasErrorOccurred())
    return;
  reportTemplates();
  for (PragmaUse &use : uses)
    if (!use.isInFunction && use.kind == PragmaUse::procedure)
      warnings.ignore(use, "no function definition follows directly; write "
                           "'#pragma procedure' before a function or at the "
                           "top of its body");
    else if (!use.isInFunction && use.kind == PragmaUse::loop)
      warnings.ignore(use, "'#pragma loop' belongs in front of a loop");
    else if (!use.isInFunction)
      warnings.ignore(use,
                      "'#pragma statement' belongs in the body of a function");
}
