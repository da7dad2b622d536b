// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MpgPragmas.so: Fujitsu's pragmas of the sector cache in clang.
//
//   clang -fplugin=MpgPragmas.so -fpass-plugin=MpgPasses.so ...
//
// Registers who reads which pragma, and nothing else. When clang compiles, the
// directives below `#pragma statement` and `#pragma procedure` get a handler
// each; others stay unknown pragmas. When it only preprocesses, the pragmas
// are kept.
//
// There is no pass in here: opt and the linkers could not load it, because
// they have nothing of clang.

#include "KeptPragma.h"
#include "SectorRegions.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Pragma.h"

using namespace clang;
using namespace mpg;

namespace {
using Regions = std::shared_ptr<SectorRegions>;
using Reader = void (SectorRegions::*)(const Directive &, SourceLocation);

/// Gives the pragma of one directive to the regions.
class DirectiveHandler : public PragmaHandler {
public:
  DirectiveHandler(StringRef name, Regions regions, const Directive &directive,
                   Reader read)
      : PragmaHandler(name), regions(std::move(regions)), directive(directive),
        read(read) {}

  void HandlePragma(Preprocessor &, PragmaIntroducer, Token &first) override {
    (regions.get()->*read)(directive, first.getLocation());
  }

private:
  Regions regions;
  const Directive &directive;
  Reader read;
};

/// `#pragma statement ...`. It is empty when there is no parser: no action ran.
class Space : public PragmaNamespace {
public:
  using PragmaNamespace::PragmaNamespace;

  void HandlePragma(Preprocessor &pp, PragmaIntroducer introducer,
                    Token &first) override {
    if (IsEmpty())
      keepPragma(pp, *this, first);
    else
      PragmaNamespace::HandlePragma(pp, introducer, first);
  }
};

struct StatementSpace : Space {
  StatementSpace() : Space("statement") {}
};

struct ProcedureSpace : Space {
  ProcedureSpace() : Space("procedure") {}
};

/// Hears of the end of the file.
class EndOfFile : public ASTConsumer {
public:
  explicit EndOfFile(Regions regions) : regions(std::move(regions)) {}

  void HandleTranslationUnit(ASTContext &) override { regions->finish(); }

private:
  Regions regions;
};

/// Runs in each compilation before the first token is read.
class PragmaAction : public PluginASTAction {
  ActionType getActionType() override { return AddBeforeMainAction; }

  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &) override {
    return true;
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler,
                                                 StringRef) override {
    Preprocessor &pp = compiler.getPreprocessor();
    auto regions = std::make_shared<SectorRegions>(pp);
    auto add = [&](StringRef space, StringRef name, const Directive &directive,
                   Reader read) {
      pp.AddPragmaHandler(space,
                          new DirectiveHandler(name, regions, directive, read));
    };
    for (const Directive &directive : directives()) {
      add("statement", directive.begin, directive, &SectorRegions::beginRegion);
      add("statement", directive.end, directive, &SectorRegions::endRegion);
      add("procedure", directive.begin, directive,
          &SectorRegions::beginProcedure);
    }
    pp.setTokenWatcher(
        [regions](const Token &token) { regions->advance(token); });
    return std::make_unique<EndOfFile>(regions);
  }
};
} // namespace

// Both exist before the preprocessor does, which the action above comes after.
static PragmaHandlerRegistry::Add<StatementSpace>
    statementSpace("statement", "pragmas of the A64FX sector cache");
static PragmaHandlerRegistry::Add<ProcedureSpace>
    procedureSpace("procedure", "pragmas of the A64FX sector cache");
static FrontendPluginRegistry::Add<PragmaAction>
    action("mpg-pragmas", "pragmas of the A64FX sector cache");
