// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grammar of hints and the side file on any bytes. Beyond not crashing: an
// accepted hint never sets the two bits that must be zero, and may be repeated.

#include "hints/FirstTouchChoice.h"
#include "hints/HintSource.h"
#include "hints/HintText.h"
#include "mpg/hints.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// Names that a side file can be about.
static constexpr char code[] = R"(
@table = global [64 x i64] zeroinitializer
@pointer = global ptr null
define void @f(ptr %a, ptr %b, i64 %n) {
  %slot = alloca ptr
  store ptr %a, ptr %slot
  %p = load ptr, ptr %slot
  %x = load i64, ptr %p
  store i64 %x, ptr %b
  ret void
}
define void @kernel_(ptr %a) {
  ret void
}
)";

namespace {
struct Silent : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &) override { return true; }
};

/// A file in memory, with a path by which it is opened like any other.
class MemoryFile {
public:
  MemoryFile() : file(memfd_create("hints", 0)) {}
  std::string path() const { return "/proc/self/fd/" + std::to_string(file); }
  void set(StringRef text) {
    if (ftruncate(file, 0) ||
        pwrite(file, text.data(), text.size(), 0) != ssize_t(text.size()))
      abort();
  }

private:
  int file;
};
} // namespace

static void checkHint(Expected<HintText> parsed) {
  if (!parsed) {
    // An empty message helps nobody.
    if (toString(parsed.takeError()).empty())
      abort();
    return;
  }
  Hint hint = parsed->hint;
  uint8_t tag = hint.tagByte();
  if (tag & 0x0c || !hint.add(parsed->hint).empty() || hint.tagByte() != tag)
    abort();
  if (parsed->ways.l1.value_or(0) > l1Ways ||
      parsed->ways.l2.value_or(0) > l2Ways)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  checkHint(parseHintText(text));
  checkHint(parseShortHintText(text));
  checkHint(parseHintText(("mpg:1:" + text).str()));

  static MemoryFile file;
  file.set(text);
  LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Silent>());
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseAssemblyString(code, error, context);
  HintRequests requests;
  readSideFile(*module, file.path(), requests);
  for (const HintRequest &request : requests.hints)
    if (!request.root || request.hint.tagByte() & 0x0c)
      abort();
  for (const WaysRequest &request : requests.ways)
    if (!request.function)
      abort();
  for (const TouchRequest &request : requests.touches)
    if (!request.root || request.choice == TouchChoice::none)
      abort();
  markTouches(*module, requests);
  return 0;
}
