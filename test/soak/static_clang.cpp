// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang -cc1, to be linked with the archives of LLVM and clang in place of
// their shared libraries, as LLVM_LINK_LLVM_DYLIB=OFF links clang
// (static-clang).

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/FrontendTool/Utils.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/TargetSelect.h"

/// Debian's clang has Polly in it, whose archive is in no package.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "", [](llvm::PassBuilder &) {}};
}

int main(int argc, char **argv) {
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
  clang::CompilerInstance clang;
  clang.createVirtualFileSystem();
  clang.createDiagnostics();
  llvm::ArrayRef<const char *> words(argv + 2, argv + argc);
  return !clang::CompilerInvocation::CreateFromArgs(
             clang.getInvocation(), words, clang.getDiagnostics(), argv[0]) ||
         !clang::ExecuteCompilerInvocation(&clang);
}
