// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The statements that take the place of a pragma:
//
//   __builtin_annotation((long)a, "mpg:1:assign@1:sector=1");
//
// In the IR they are calls of llvm.annotation, which MpgPasses.so reads and
// erases; without that plugin they compute nothing.

#pragma once

#include "clang/Sema/Sema.h"

namespace mpg {

class SectorMarkers {
public:
  /// For code in \p function.
  SectorMarkers(clang::Sema &sema, const clang::FunctionDecl &function);

  /// The marker \p text ("mpg:1:..."), in the line of \p where.
  clang::Stmt *make(clang::SourceLocation where, llvm::StringRef text);

  /// The same about the variable \p variable: an array or a pointer, whose
  /// address it gives, or an integer.
  clang::Stmt *make(clang::SourceLocation where, llvm::StringRef text,
                    clang::Expr *variable);

  /// \p variable as an expression of code that sees it without a capture.
  clang::Expr *name(clang::VarDecl *variable, clang::SourceLocation where);

private:
  clang::Expr *castToLong(clang::Expr *value, clang::CastKind kind);

  clang::Sema &sema;
  clang::ASTContext &context;
  bool isConstexpr;
};

/// Whether \p target has markers: AArch64 where a long holds a pointer.
bool hasMarkers(const clang::TargetInfo &target);

} // namespace mpg
