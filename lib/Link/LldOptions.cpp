// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LldOptions.h.

#include "Link/LldOptions.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

// Options of ld.lld 22 that take their value from the next argument. Those
// with one letter take it from the same argument too ("-ofile").
static constexpr StringRef anyDashValues[] = {"Map",
                                              "Tbss",
                                              "Tdata",
                                              "Ttext",
                                              "Ttext-segment",
                                              "auxiliary",
                                              "call-graph-ordering-file",
                                              "compress-debug-sections",
                                              "defsym",
                                              "dynamic-linker",
                                              "dynamic-list",
                                              "entry",
                                              "exclude-libs",
                                              "filter",
                                              "fini",
                                              "format",
                                              "hash-style",
                                              "init",
                                              "just-symbols",
                                              "keep-unique",
                                              "library",
                                              "library-path",
                                              "mllvm",
                                              "orphan-handling",
                                              "plugin",
                                              "plugin-opt",
                                              "print-symbol-order",
                                              "retain-symbols-file",
                                              "rpath",
                                              "script",
                                              "section-start",
                                              "soname",
                                              "sort-section",
                                              "split-stack-adjust-size",
                                              "sysroot",
                                              "target2",
                                              "trace-symbol",
                                              "undefined",
                                              "unresolved-symbols",
                                              "version-script",
                                              "wrap"};
static constexpr StringRef doubleDashValues[] = {
    "chroot",
    "compress-sections",
    "default-script",
    "dependency-file",
    "error-handling-script",
    "error-limit",
    "export-dynamic-symbol",
    "export-dynamic-symbol-list",
    "image-base",
    "in-implib",
    "irpgo-profile",
    "load-pass-plugin",
    "lto-known-safe-vtables",
    "oformat",
    "opt-remarks-filename",
    "opt-remarks-format",
    "opt-remarks-hotness-threshold",
    "opt-remarks-passes",
    "out-implib",
    "output",
    "pack-dyn-relocs",
    "remap-inputs",
    "reproduce",
    "rsp-quoting",
    "shuffle-sections",
    "symbol-ordering-file",
    "thinlto-cache-policy",
    "thinlto-distributor-arg",
    "threads",
    "time-trace-granularity",
    "undefined-glob",
    "warn-backrefs-exclude",
    "why-live"};
static constexpr StringRef letterValues = "LORTbefFhlmouyz";
// Long options that one dash may precede although they begin with such a
// letter.
static constexpr StringRef longWithOneDash[] = {"eh-frame-hdr",
                                                "emit-relocs",
                                                "enable-new-dtags",
                                                "end-group",
                                                "end-lib",
                                                "error-unresolved-symbols",
                                                "export-dynamic",
                                                "fatal-warnings",
                                                "fix-cortex-a53-843419",
                                                "fix-cortex-a8",
                                                "help",
                                                "merge-exidx-entries",
                                                "unique",
                                                "dT"};

LldOption mpg::nextLldOption(ArrayRef<const char *> args, size_t &at) {
  StringRef arg = args[at++];
  LldOption option;
  if (!arg.starts_with("-") || arg == "-") {
    option.value = arg;
    return option;
  }
  option.doubleDash = arg.starts_with("--");
  StringRef name = arg.drop_front(option.doubleDash ? 2 : 1);
  auto takeNext = [&] {
    option.lacksValue = at == args.size();
    return option.lacksValue ? "" : args[at++];
  };
  auto [before, after] = name.split('=');
  if (is_contained(anyDashValues, before) ||
      (option.doubleDash && is_contained(doubleDashValues, before))) {
    option.name = before;
    option.value = before.size() < name.size() ? after : takeNext();
    return option;
  }
  bool isLetter = !option.doubleDash && !name.empty() &&
                  letterValues.contains(name[0]) &&
                  !is_contained(longWithOneDash, name);
  if (!isLetter) {
    option.name = name;
    if (name == "dT")
      option.value = takeNext();
    return option;
  }
  option.name = name.take_front(1);
  option.value = name.size() > 1 ? name.drop_front(1) : takeNext();
  return option;
}
