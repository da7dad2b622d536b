// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimQemu.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"

using namespace llvm;
using namespace mpg;

SimSources::SimSources() {
  symbolize::LLVMSymbolizer::Options options;
  options.Demangle = false; // the report does
  symbolizer = std::make_unique<symbolize::LLVMSymbolizer>(options);
}

SimSources::~SimSources() = default;

sim::SimSource SimSources::find(const std::string &path, uint64_t address) {
  sim::SimSource source;
  Expected<DILineInfo> found = symbolizer->symbolizeCode(
      path, {address, object::SectionedAddress::UndefSection});
  if (!found) {
    consumeError(found.takeError()); // no names
    return source;
  }
  if (found->Line) {
    source.file = found->FileName;
    source.line = found->Line;
  }
  if (found->FunctionName != DILineInfo::BadString)
    source.function = found->FunctionName;
  source.functionAt = found->StartAddress.value_or(0);
  return source;
}
