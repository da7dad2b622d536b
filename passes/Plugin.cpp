// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MpgPasses.so: the order of the passes, with reasons. Start reading here.
//
//   hints are read        at the start, where the code looks like the source
//   loops are kept        until the vectoriser: LoopIdiom runs before it
//   first touch           on simplified code, before the vectoriser; for LTO at
//                         the link, which sees all files
//   sectors are chosen    on request: when functions are inlined, before the
//                         vectoriser
//   lines are zeroed      on request: after the last optimisation, which would
//                         not know what DC ZVA writes
//   stores go past the caches  on request, on x86-64: there, too
//   lines are prefetched  on request: after that, and not what is zeroed
//   accesses are recorded for mpgsim, on request: after the last optimisation,
//                         and before tags make addresses hard to read
//   tags are written      after everything else, once: not when compiling for
//                         LTO, where the link optimises again
//
// Nothing here may run before the LLVM version check: a global constructor
// would crash a compiler of another version.

#include "LabPasses.h"
#include "base/PassOptions.h"
#include "hints/FirstTouchChoice.h"
#include "hints/HintSource.h"
#include "openmp/OpenmpPasses.h"
#include "prefetch/Prefetch.h"
#include "sector/SectorAuto.h"
#include "stream/Stream.h"
#include "tags/TagForm.h"
#include "tags/TagWriter.h"
#include "zfill/Zfill.h"
#include "llvm-c/Core.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Passes/PassBuilder.h"
#include <cstddef>
#include <cstdio>
#include <dlfcn.h>
#include <link.h>

#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

using namespace llvm;
using namespace mpg;

// The compiler that loads the plugin: is it the one it was built for?

#pragma weak LLVMGetVersion

/// The value of entry \p tag in the dynamic section of \p library: an address,
/// which the loader has relocated, or a number.
static size_t findEntry(const link_map &library, int tag) {
  for (const ElfW(Dyn) *entry = library.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag)
      return entry->d_un.d_val;
  return 0;
}

/// A function that this library calls and the process lacks; null if it has
/// all.
static const char *findMissingFunction() {
  Dl_info info;
  void *found = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(llvmGetPassPluginInfo), &info, &found,
               RTLD_DL_LINKMAP))
    return nullptr;
  const auto &library = *static_cast<const link_map *>(found);
  auto *symbols =
      reinterpret_cast<const ElfW(Sym) *>(findEntry(library, DT_SYMTAB));
  auto *names = reinterpret_cast<const char *>(findEntry(library, DT_STRTAB));
  auto *calls =
      reinterpret_cast<const ElfW(Rela) *>(findEntry(library, DT_JMPREL));
  size_t count = findEntry(library, DT_PLTRELSZ) / sizeof *calls;
  for (size_t i = 0; i < count; ++i) {
    const ElfW(Sym) &symbol = symbols[ELF64_R_SYM(calls[i].r_info)];
    const char *name = names + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF &&
        ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
        !dlsym(RTLD_DEFAULT, name))
      return name;
  }
  return nullptr;
}

/// Checks that the compiler's LLVM fits; if not, prints what does not fit and
/// what to do. Calls nothing of LLVM's C++, which may have another version.
static bool compilerFits() {
  constexpr int own = LLVM_VERSION_MAJOR;
  if (!LLVMGetVersion) {
    const char *missing = findMissingFunction();
    if (missing)
      fprintf(
          stderr,
          "MpgPasses.so: this one is for LLVM %d, and the compiler has no "
          "%s: it is of another version, or LLVM was linked into it without "
          "that; build the plugin for it (cmake -DMPG_PARTS=plugin "
          "-DLLVM_DIR=, the lib/cmake/llvm of its LLVM)\n",
          own, missing);
    return !missing;
  }
  unsigned major = 0;
  LLVMGetVersion(&major, nullptr, nullptr);
  if (major != own)
    fprintf(
        stderr,
        "MpgPasses.so: this one is for LLVM %d, and the compiler is of LLVM "
        "%u: take the MpgPasses.so of the package mpgtools-plugin-%u, or "
        "build it (cmake -DMPG_PARTS=plugin -DLLVM_DIR=, the lib/cmake/llvm "
        "of LLVM %u)\n",
        own, major, major, major);
  return major == own;
}

// The passes

static void addLast(ModulePassManager &passes, Stage stage) {
  passes.addPass(createModuleToFunctionPassAdaptor(ReleaseLoopsPass()));
  passes.addPass(ZfillPass(stage));
  passes.addPass(StreamStoresPass(stage));
  passes.addPass(PrefetchPass(stage));
  addAccessRecorder(passes, stage);
  passes.addPass(TagWriterPass(stage));
}

/// The passes about OpenMP programs.
static void addParallel(ModulePassManager &passes, OptimizationLevel level) {
  if (level == OptimizationLevel::O0)
    return;
  addParallelRemarks(passes);
  passes.addPass(FirstTouchPass());
}

static void addSectors(ModulePassManager &passes, OptimizationLevel level) {
  if (level == OptimizationLevel::O0)
    return;
  passes.addPass(SectorAutoPass());
}

#if LLVM_VERSION_MAJOR >= 20
static bool isPreLink(ThinOrFullLTOPhase phase) {
  return phase == ThinOrFullLTOPhase::ThinLTOPreLink ||
         phase == ThinOrFullLTOPhase::FullLTOPreLink;
}

static void registerByPhase(PassBuilder &builder) {
  builder.registerPipelineEarlySimplificationEPCallback(
      [](ModulePassManager &passes, OptimizationLevel, ThinOrFullLTOPhase) {
        passes.addPass(KeepLoopsPass());
      });
  builder.registerOptimizerEarlyEPCallback([](ModulePassManager &passes,
                                              OptimizationLevel level,
                                              ThinOrFullLTOPhase phase) {
    if (!isPreLink(phase))
      addParallel(passes, level);
    // A full link finds vectorised loops, a thin one all that is inlined.
    if (phase != ThinOrFullLTOPhase::ThinLTOPreLink)
      addSectors(passes, level);
  });
  builder.registerOptimizerLastEPCallback([](ModulePassManager &passes,
                                             OptimizationLevel,
                                             ThinOrFullLTOPhase phase) {
    addLast(passes, isPreLink(phase) ? Stage::preLink : Stage::last);
  });
}
#else
static void registerByPhase(PassBuilder &builder) {
  builder.registerPipelineEarlySimplificationEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) {
        passes.addPass(KeepLoopsPass());
      });
  builder.registerOptimizerEarlyEPCallback(addParallel);
  builder.registerOptimizerEarlyEPCallback(addSectors);
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) {
        addLast(passes, Stage::unknown);
      });
}
#endif

/// Whether our passes are registered already: a compiler that gets the plugin
/// twice, from a wrapper and from a build file, calls this twice. If not,
/// starts to watch the passes that run in the compiler.
static bool isRegistered(PassBuilder &builder) {
  static constexpr char name[] = "mpg-plugin";
  PassInstrumentationCallbacks *callbacks =
      builder.getPassInstrumentationCallbacks();
  if (!callbacks)
    return false;
  if (!callbacks->getPassNameForClassName(name).empty())
    return true;
  callbacks->addClassToPassName(name, name);
  watchAddressReaders(*callbacks);
  return false;
}

static void registerPasses(PassBuilder &builder) {
  if (isRegistered(builder))
    return;
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager &passes, OptimizationLevel level) {
        passes.addPass(HintSourcePass(level != OptimizationLevel::O0));
      });
  registerByPhase(builder);
  // Before a function is inlined into others, after others into it.
  builder.registerScalarOptimizerLateEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) {
        passes.addPass(TouchKeeperPass());
        passes.addPass(LostLoopsPass());
      });
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) {
        passes.addPass(ReleaseLoopsPass());
        passes.addPass(StreamMarkerPass());
        passes.addPass(BaseMarkerPass());
        passes.addPass(EarlyTagWriterPass());
      });
  // A link with full LTO has neither of the two places above.
  builder.registerFullLinkTimeOptimizationEarlyEPCallback(
      [](ModulePassManager &passes, OptimizationLevel level) {
        addParallel(passes, level);
        passes.addPass(KeepLoopsPass());
      });
  builder.registerFullLinkTimeOptimizationLastEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) {
        addLast(passes, Stage::last);
      });
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager &passes,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (name == "mpg-hints")
          passes.addPass(HintSourcePass(/*optimised=*/true));
        else if (name == "mpg-first-touch")
          passes.addPass(FirstTouchPass());
        else if (name == "mpg-sectors")
          passes.addPass(SectorAutoPass());
        else if (name == "mpg-stream-stores")
          passes.addPass(StreamStoresPass(Stage::last));
        else if (name == "mpg-zfill")
          passes.addPass(ZfillPass(Stage::last));
        else if (name == "mpg-prefetch")
          passes.addPass(PrefetchPass(Stage::last));
        else if (name == "mpg-sim")
          addAccessRecorder(passes, Stage::last);
        else if (name == "mpg-tags")
          addLast(passes, Stage::last);
        else
          return false;
        return true;
      });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  // A number that no LLVM knows: the compiler refuses the plugin.
  uint32_t version = 1000 + LLVM_VERSION_MAJOR;
  if (compilerFits()) {
    version = LLVM_PLUGIN_API_VERSION;
    registerPassOptions();
    registerDebugCounters();
  }
  PassPluginLibraryInfo info = {};
  info.APIVersion = version;
  info.PluginName = "MpgPasses";
  info.PluginVersion = MPG_VERSION;
  info.RegisterPassBuilderCallbacks = registerPasses;
  return info;
}
