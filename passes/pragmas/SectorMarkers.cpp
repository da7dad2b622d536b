// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SectorMarkers.h.

#include "SectorMarkers.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/TargetInfo.h"

using namespace clang;
using namespace mpg;

bool mpg::hasMarkers(const TargetInfo &target) {
  return target.getTriple().isAArch64() &&
         target.getLongWidth() == target.getPointerWidth(LangAS::Default);
}

SectorMarkers::SectorMarkers(Sema &sema, const FunctionDecl &function)
    : sema(sema), context(sema.getASTContext()),
      isConstexpr(function.isConstexpr()) {}

Expr *SectorMarkers::name(VarDecl *variable, SourceLocation where) {
  return DeclRefExpr::Create(
      context, NestedNameSpecifierLoc(), SourceLocation(), variable, false,
      where, variable->getType().getNonReferenceType(), VK_LValue);
}

Expr *SectorMarkers::castToLong(Expr *value, CastKind kind) {
  SourceLocation where = value->getExprLoc();
  return CStyleCastExpr::Create(
      context, context.LongTy, VK_PRValue, kind, value, nullptr,
      FPOptionsOverride(),
      context.getTrivialTypeSourceInfo(context.LongTy, where), where, where);
}

/// \p value and the marker's text as arguments of the builtin.
static Stmt *makeCall(Sema &sema, SourceLocation where, StringRef text,
                      Expr *value, bool isConstexpr) {
  ASTContext &context = sema.getASTContext();
  QualType type =
      context.getStringLiteralArrayType(context.CharTy, unsigned(text.size()));
  Expr *arguments[] = {value, StringLiteral::Create(context, text,
                                                    StringLiteralKind::Ordinary,
                                                    false, type, where)};
  Expr *call = sema.BuildBuiltinCallExpr(where, Builtin::BI__builtin_annotation,
                                         arguments);
  if (!isConstexpr)
    return call;
  // Not where the function is computed by the compiler: if !consteval.
  return IfStmt::Create(
      context, where, IfStatementKind::ConstevalNegated, nullptr, nullptr,
      nullptr, where, where,
      CompoundStmt::Create(context, call, FPOptionsOverride(), where, where));
}

Stmt *SectorMarkers::make(SourceLocation where, StringRef text) {
  llvm::APInt zero(unsigned(context.getTypeSize(context.LongTy)), 0);
  return makeCall(sema, where, text,
                  IntegerLiteral::Create(context, zero, context.LongTy, where),
                  isConstexpr);
}

Stmt *SectorMarkers::make(SourceLocation where, StringRef text,
                          Expr *variable) {
  QualType type = variable->getType();
  bool isArray = type->isArrayType();
  bool isPointer = type->isPointerType();
  QualType valueType =
      isArray ? context.getArrayDecayedType(type) : type.getUnqualifiedType();
  Expr *value = ImplicitCastExpr::Create(
      context, valueType, isArray ? CK_ArrayToPointerDecay : CK_LValueToRValue,
      variable, nullptr, VK_PRValue, FPOptionsOverride());
  value = castToLong(value, isArray || isPointer ? CK_PointerToIntegral
                                                 : CK_IntegralCast);
  return makeCall(sema, where, text, value, isConstexpr);
}
