// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The places of a function's body where a marker can go, and the variables that
// a place can name. A place is a position in a block ({ ... }), because
// elsewhere there is no room for another statement. The map is of clang's
// syntax tree, so the program has been parsed without the pragmas before
// anything is inserted: they cannot break it.

#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <vector>

namespace mpg {

/// A position among the statements of a block.
struct Place {
  unsigned block = 0;
  unsigned index = 0;   ///< in front of this statement
  bool inLabel = false; ///< but after the labels of it
  bool isInside =
      false; ///< the source has it inside of a statement: between a
             ///< loop and its body, or OpenMP's directive and a loop
};

class BodyMap {
public:
  struct Block {
    clang::CompoundStmt *statement;
    unsigned parent;      ///< block around it; of the first one itself
    unsigned parentIndex; ///< statement of the parent that holds it
    unsigned frame;
    bool isValue;  ///< ({ ... }), whose last statement is its value
    bool isSwitch; ///< that of a switch, entered at its labels
    std::function<void(clang::Stmt *)> replace;
  };

  /// A variable that is declared in the body. \a scope is the statement in
  /// which it can be named.
  struct Variable {
    clang::VarDecl *variable;
    const clang::Stmt *scope;
    unsigned frame;
    Place after; ///< behind its declaration
    bool hasPlace;
  };

  BodyMap(clang::FunctionDecl &function, const clang::SourceManager &sources);

  /// Where a pragma at \p at lies.
  Place getPlace(clang::SourceLocation at) const;

  /// Start and end of the function.
  Place start() const { return {0, 0, false, false}; }
  Place getEnd(unsigned block) const;

  /// Whether code leads to \p place: not from a return or the head of a switch.
  bool isReached(const Place &place) const;

  const Block &block(unsigned number) const { return blocks[number]; }

  /// The variable of the body or parameter \p name that is visible at \p at,
  /// not through a capture; nullptr if there is none.
  clang::VarDecl *visibleVariable(llvm::StringRef name,
                                  clang::SourceLocation at,
                                  const Place &place) const;

  /// Variables \p name that are declared between \p from and \p to.
  llvm::SmallVector<const Variable *, 2>
  declaredLater(llvm::StringRef name, clang::SourceLocation from,
                clang::SourceLocation to) const;

  /// How the code near \p place names a variable from outside of it: an
  /// expression of the program, which is certain to be captured there.
  clang::Expr *reference(llvm::StringRef name, const Place &place) const;

  /// Puts \p statement at \p place. Of several there that of the lowest
  /// \p order comes first.
  void insert(const Place &place, unsigned order, clang::Stmt *statement);

  /// Changes the syntax tree. Call it once, at the end.
  void apply(const clang::ASTContext &context);

private:
  /// The function, or code that OpenMP makes a function of.
  struct Frame {
    llvm::SmallVector<clang::Expr *, 0> references;
  };
  struct Insertion {
    Place place;
    unsigned order;
    clang::Stmt *statement;
  };
  /// Where the walk is.
  struct Spot {
    unsigned block, index, frame;
    bool isValue, isSwitch;
  };

  void walk(clang::Stmt *statement, Spot spot,
            std::function<void(clang::Stmt *)> replace);
  void walkBlock(clang::CompoundStmt *statement, Spot spot,
                 std::function<void(clang::Stmt *)> replace);
  void walkChildren(clang::Stmt *statement, Spot spot);
  void walkCaptured(clang::CapturedStmt *statement, Spot spot);
  void addVariables(clang::Stmt *declaration, const clang::Stmt *scope,
                    Spot spot, bool hasPlace);
  bool isBefore(clang::SourceLocation a, clang::SourceLocation b) const {
    return sources.isBeforeInTranslationUnit(a, b);
  }
  bool spans(const clang::Stmt &statement, clang::SourceLocation at) const;
  bool isLocal(const clang::Decl *declaration, unsigned frame) const;

  clang::FunctionDecl &function;
  const clang::SourceManager &sources;
  std::vector<Block> blocks;
  std::vector<Frame> frames;
  std::vector<Variable> variables;
  std::vector<Insertion> insertions;
};

} // namespace mpg
