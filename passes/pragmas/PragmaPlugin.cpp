// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MpgPragmas.so: Fujitsu's pragmas of the sector cache and of zero fill in
// clang.
//
//   clang -fplugin=MpgPragmas.so -fpass-plugin=MpgPasses.so ...
//
// Registers who reads which pragma. When clang compiles, the
// directives below `#pragma statement`, `#pragma procedure` and `#pragma loop`
// get a handler each; others stay unknown pragmas. `#pragma fj loop` is how
// programs for fcc's clang mode write the last.
//
// When clang only preprocesses (-E, -save-temps, ccache, distcc), a later
// compilation reads the text, so the pragmas are kept. Macros in them must be
// expanded now, because they are gone then, and a cache that compares the text
// must see their values.
//
// This plugin contains no pass: opt and the linkers could not load it, because
// they lack clang's symbols.

#include "SectorRegions.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/SemaConsumer.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace mpg;

/// The form of a directive; of another one's line no macro is touched.
static LineForm parseForm(StringRef name) {
  const Directive *found =
      llvm::find_if(directives(), [&](const Directive &directive) {
        return name == directive.begin;
      });
  return found == directives().end() ? LineForm::none : found->form;
}

/// Enters `_Pragma ( "text" )` and a terminator, as if written at \p where.
static void enterPragma(Preprocessor &pp, StringRef text,
                        SourceLocation where) {
  struct {
    tok::TokenKind kind;
    std::string text;
  } const parts[] = {
      {tok::identifier, "_Pragma"},
      {tok::l_paren, "("},
      {tok::string_literal, "\"" + Lexer::Stringify(text) + "\""},
      {tok::r_paren, ")"},
      {tok::semi, ";"},
  };
  auto tokens = std::make_unique<Token[]>(std::size(parts));
  for (size_t i = 0; i != std::size(parts); ++i) {
    tokens[i].startToken();
    tokens[i].setKind(parts[i].kind);
    pp.CreateString(parts[i].text, tokens[i], where, where);
  }
  tokens[0].setIdentifierInfo(pp.getIdentifierInfo("_Pragma"));
  pp.EnterTokenStream(std::move(tokens), std::size(parts), false, true);
}

/// Puts the pragma that \p first begins into the output, with the macros of our
/// directives expanded. \p handler is the one that got it.
static void keepPragma(Preprocessor &pp, PragmaHandler &handler,
                       const Token &first) {
  std::string text = pp.getSpelling(first);
  Token name;
  pp.LexUnexpandedToken(name);
  if (text == "fj" && name.isNot(tok::eod)) {
    text += " " + pp.getSpelling(name);
    pp.LexUnexpandedToken(name);
  }
  if (name.isNot(tok::eod)) {
    text += " " + pp.getSpelling(name);
    TokenList line = readLine(pp, parseForm(pp.getSpelling(name)));
    for (const Token &token : llvm::ArrayRef(line).drop_back())
      text += (token.hasLeadingSpace() ? " " : "") + pp.getSpelling(token);
  }
  // clang itself writes what no handler knows.
  pp.RemovePragmaHandler(&handler);
  enterPragma(pp, text, first.getLocation());
  Token end;
  pp.Lex(end);
  pp.AddPragmaHandler(&handler);
}

namespace {
using Regions = std::shared_ptr<SectorRegions>;

/// Gives the pragma of one directive to the regions.
class DirectiveHandler : public PragmaHandler {
public:
  DirectiveHandler(StringRef name, Regions regions, const Directive &directive,
                   PragmaUse::Kind kind)
      : PragmaHandler(name), regions(std::move(regions)), directive(directive),
        kind(kind) {}

  void HandlePragma(Preprocessor &, PragmaIntroducer introducer,
                    Token &name) override {
    regions->readPragma(directive, kind, introducer.Loc, name);
  }

private:
  Regions regions;
  const Directive &directive;
  PragmaUse::Kind kind;
};

/// `#pragma statement ...`. Empty without a parser, when no action ran.
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

struct LoopSpace : Space {
  LoopSpace() : Space("loop") {}
};

struct FujitsuSpace : Space {
  FujitsuSpace() : Space("fj") {}
};

/// Receives each complete declaration before clang generates its code.
class Declarations : public SemaConsumer {
public:
  explicit Declarations(Regions regions) : regions(std::move(regions)) {}

  void InitializeSema(Sema &sema) override { regions->setSema(sema); }

  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl *declaration : group)
      regions->handle(declaration);
    return true;
  }

  void HandleInlineFunctionDefinition(FunctionDecl *function) override {
    regions->handle(function);
  }

  void HandleTranslationUnit(ASTContext &) override { regions->finish(); }

private:
  Regions regions;
};

/// Runs in each compilation before the first token is read.
class PragmaAction : public PluginASTAction {
  ActionType getActionType() override { return AddBeforeMainAction; }

  /// Takes the options of -Wmpg-pragmas, without the -W.
  bool ParseArgs(const CompilerInstance &,
                 const std::vector<std::string> &arguments) override {
    options = arguments;
    return true;
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler,
                                                 StringRef) override {
    Preprocessor &pp = compiler.getPreprocessor();
    auto regions = std::make_shared<SectorRegions>(pp, options);
    auto add = [&](StringRef space, StringRef name, const Directive &directive,
                   PragmaUse::Kind kind) {
      pp.AddPragmaHandler(space,
                          new DirectiveHandler(name, regions, directive, kind));
    };
    auto *fujitsuLoop = new PragmaNamespace("loop");
    pp.AddPragmaHandler("fj", fujitsuLoop);
    for (const Directive &directive : directives()) {
      if (!directive.end) {
        add("loop", directive.begin, directive, PragmaUse::loop);
        fujitsuLoop->AddPragma(new DirectiveHandler(
            directive.begin, regions, directive, PragmaUse::loop));
        continue;
      }
      add("statement", directive.begin, directive, PragmaUse::begin);
      add("statement", directive.end, directive, PragmaUse::end);
      add("procedure", directive.begin, directive, PragmaUse::procedure);
    }
    return std::make_unique<Declarations>(regions);
  }

  std::vector<std::string> options;
};
} // namespace

// Both exist before the preprocessor, and the action above comes after it.
static PragmaHandlerRegistry::Add<StatementSpace>
    statementSpace("statement", "pragmas of the A64FX sector cache");
static PragmaHandlerRegistry::Add<ProcedureSpace>
    procedureSpace("procedure", "pragmas of the A64FX sector cache");
static PragmaHandlerRegistry::Add<LoopSpace>
    loopSpace("loop", "pragmas of zero fill and prefetch on A64FX");
static PragmaHandlerRegistry::Add<FujitsuSpace>
    fujitsuSpace("fj", "the same, in Fujitsu's clang mode");
static FrontendPluginRegistry::Add<PragmaAction>
    action("mpg-pragmas", "pragmas of the A64FX sector cache");
