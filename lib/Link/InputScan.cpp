// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See InputScan.h. Inputs are mapped, as lld maps them a moment later, and not
// opened through Image: that would cost four times as much for an archive of a
// thousand members. Every offset is checked before it is followed. Archives are
// scanned in parallel; the threads have ended when the result is returned.

#include "Link/InputScan.h"
#include "Elf/Machine.h"
#include "Support/Threads.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Triple.h"
#include <cstring>
#include <elf.h>
#include <thread>

using namespace llvm;
using namespace mpg;

namespace {

constexpr unsigned commonIsLarge = 0xff02; // SHN_X86_64_LCOMMON

/// Copies a \p T out of \p file; zeros if it is not all there.
template <typename T> T readAt(StringRef file, uint64_t offset) {
  T value = {};
  if (offset <= file.size() && file.size() - offset >= sizeof(T))
    memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

StringRef stringAt(StringRef table, uint64_t offset) {
  StringRef rest = table.substr(std::min<uint64_t>(offset, table.size()));
  return rest.take_until([](char c) { return c == '\0'; });
}

StringRef getContents(StringRef file, const Elf64_Shdr &section) {
  if (section.sh_offset > file.size())
    return {};
  return file.substr(section.sh_offset, section.sh_size);
}

/// Adds up one file after the other.
class Scanner {
public:
  explicit Scanner(uint64_t enoughBytes) : enoughBytes(enoughBytes) {}
  void scanFile(StringRef file, StringRef name, std::vector<std::string> &slim);
  void scanArchive(MemoryBufferRef file);
  ScanResult result;

private:
  void scanObject(StringRef file, StringRef name,
                  std::vector<std::string> &slim);
  void scanSymbols(StringRef file, const Elf64_Shdr &table, StringRef strings,
                   bool &slim);
  void scanBitcode(MemoryBufferRef file);
  void scanVariable(const GlobalVariable &variable, const DataLayout &layout);
  void seeMachine(Machine machine);

  uint64_t enoughBytes;
};

} // namespace

void Scanner::seeMachine(Machine machine) {
  if (!result.machine)
    result.machine = machine;
}

static bool countsAsData(StringRef name) {
  for (StringRef kind : {".data", ".bss", ".ldata", ".lbss"})
    if (name.consume_front(kind))
      return name.empty() ||
             (name.starts_with(".") && !name.starts_with(".rel.ro"));
  return false;
}

void Scanner::scanSymbols(StringRef file, const Elf64_Shdr &table,
                          StringRef strings, bool &slim) {
  StringRef symbols = getContents(file, table);
  uint64_t count = symbols.size() / sizeof(Elf64_Sym);
  // COMMON symbols are global, and those follow the local ones. Reads only the
  // field that decides: of a million symbols hardly one is COMMON.
  for (uint64_t index = table.sh_info; index < count; ++index) {
    uint16_t kind =
        support::endian::read16le(symbols.data() + index * sizeof(Elf64_Sym) +
                                  offsetof(Elf64_Sym, st_shndx));
    if (kind != SHN_COMMON && kind != commonIsLarge)
      continue;
    auto symbol = readAt<Elf64_Sym>(symbols, index * sizeof(Elf64_Sym));
    result.dataBytes += symbol.st_size;
    result.large |= kind == commonIsLarge;
    slim |= stringAt(strings, symbol.st_name) == "__gnu_lto_slim";
  }
}

void Scanner::scanObject(StringRef file, StringRef name,
                         std::vector<std::string> &slimNames) {
  auto header = readAt<Elf64_Ehdr>(file, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return;
  if (header.e_machine == uint16_t(Machine::x86_64) ||
      header.e_machine == uint16_t(Machine::aarch64))
    seeMachine(Machine(header.e_machine));
  if (header.e_type != ET_REL)
    return;
  auto sectionAt = [&](uint64_t index) {
    return readAt<Elf64_Shdr>(file,
                              header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  // Objects with more sections than the header can say keep them in the first.
  auto null = sectionAt(0);
  uint64_t count = header.e_shnum ? header.e_shnum : null.sh_size;
  // A damaged count would only bring zeros, but very many.
  count = std::min<uint64_t>(count, file.size() / sizeof(Elf64_Shdr));
  uint64_t namesAt =
      header.e_shstrndx == SHN_XINDEX ? null.sh_link : header.e_shstrndx;
  StringRef names = getContents(file, sectionAt(namesAt));
  constexpr uint64_t wanted = SHF_ALLOC | SHF_WRITE;
  bool slim = false, isCxx = false;
  Elf64_Shdr symbols = {};
  for (uint64_t index = 1; index < count; ++index) {
    Elf64_Shdr section = sectionAt(index);
    isCxx |= section.sh_type == SHT_GROUP;
    if ((section.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == SHF_EXECINSTR &&
        stringAt(names, section.sh_name) == ".note.GNU-stack" &&
        !is_contained(result.stackCode, name))
      result.stackCode.push_back(name.str());
    if (section.sh_type == SHT_SYMTAB) {
      symbols = section;
    } else if ((section.sh_flags & (wanted | SHF_TLS)) == wanted &&
               section.sh_size > 0 &&
               countsAsData(stringAt(names, section.sh_name))) {
      result.dataBytes += section.sh_size;
      result.large |= (section.sh_flags & largeSectionFlag) != 0;
    }
  }
  // Groups come from C++, which has no COMMON symbols but most of all others.
  if (!isCxx && symbols.sh_type == SHT_SYMTAB)
    scanSymbols(file, symbols, getContents(file, sectionAt(symbols.sh_link)),
                slim);
  if (slim)
    slimNames.push_back(name.str());
}

/// Constants go to read-only memory.
void Scanner::scanVariable(const GlobalVariable &variable,
                           const DataLayout &layout) {
  if (variable.isDeclaration() || variable.isConstant() ||
      variable.isThreadLocal() || !variable.getValueType()->isSized())
    return;
  result.dataBytes +=
      layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  if (variable.hasSection() && variable.getInitializer()->isNullValue() &&
      !countsAsData(variable.getSection()) &&
      !is_contained(result.lateSections, variable.getSection()))
    result.lateSections.push_back(variable.getSection().str());
}

/// The variables of an LTO input.
void Scanner::scanBitcode(MemoryBufferRef file) {
  result.bitcodeBytes += file.getBufferSize();
  LLVMContext context;
  context.setDiagnosticHandlerCallBack([](const DiagnosticInfo *, void *) {});
  Expected<std::vector<BitcodeModule>> modules = getBitcodeModuleList(file);
  if (!modules)
    return consumeError(modules.takeError());
  for (BitcodeModule &bitcode : *modules) {
    auto module =
        bitcode.getLazyModule(context, /*ShouldLazyLoadMetadata=*/true,
                              /*IsImporting=*/false);
    if (!module) {
      consumeError(module.takeError());
      continue;
    }
    Triple triple((*module)->getTargetTriple());
    if (triple.getArch() == Triple::x86_64)
      seeMachine(Machine::x86_64);
    else if (triple.getArch() == Triple::aarch64)
      seeMachine(Machine::aarch64);
    auto model = (*module)->getCodeModel();
    result.large |= model && *model >= CodeModel::Medium &&
                    triple.getArch() == Triple::x86_64;
    const DataLayout &layout = (*module)->getDataLayout();
    for (const GlobalVariable &variable : (*module)->globals())
      scanVariable(variable, layout);
  }
}

/// The archive reader believes the size that a damaged member claims to have.
/// Members of thin archives are files of their own and lie elsewhere.
static StringRef clipped(StringRef member, StringRef archive) {
  if (member.begin() < archive.begin() || member.begin() > archive.end())
    return member;
  return member.take_front(size_t(archive.end() - member.begin()));
}

void Scanner::scanArchive(MemoryBufferRef file) {
  Expected<std::unique_ptr<object::Archive>> archive =
      object::Archive::create(file);
  if (!archive)
    return consumeError(archive.takeError());
  std::vector<std::string> slim;
  Error error = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(error)) {
    Expected<MemoryBufferRef> member = child.getMemoryBufferRef();
    if (member)
      scanFile(clipped(member->getBuffer(), file.getBuffer()),
               file.getBufferIdentifier(), slim);
    else
      consumeError(member.takeError());
    if (result.dataBytes >= enoughBytes)
      break; // that there is a layout is certain by then
  }
  consumeError(std::move(error));
  if (!slim.empty())
    result.slimArchives.push_back(file.getBufferIdentifier().str());
}

/// An object or bitcode file, or something that has no data to count.
void Scanner::scanFile(StringRef file, StringRef name,
                       std::vector<std::string> &slim) {
  if (file.starts_with(ELFMAG))
    scanObject(file, name, slim);
  else if (isBitcode(file.bytes_begin(), file.bytes_end()))
    scanBitcode(MemoryBufferRef(file, name));
}

/// As lld searches: in each folder the shared library first.
static std::string findLibrary(const LinkRequest &request,
                               const LinkInput &input) {
  bool isExact = StringRef(input.name).starts_with(":");
  for (StringRef folder : request.searchPaths) {
    SmallString<256> path;
    if (folder.consume_front("=") || folder.consume_front("$SYSROOT"))
      path = request.sysroot;
    path += folder;
    size_t length = path.size();
    if (isExact) {
      sys::path::append(path, input.name.substr(1));
      if (sys::fs::exists(path))
        return path.str().str();
      continue;
    }
    sys::path::append(path, "lib" + input.name + ".so");
    if (!input.staticOnly && sys::fs::exists(path))
      return {};
    path.resize(length);
    sys::path::append(path, "lib" + input.name + ".a");
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return {};
}

void mpg::merge(ScanResult &into, const ScanResult &from) {
  if (!into.machine)
    into.machine = from.machine;
  into.dataBytes += from.dataBytes;
  into.large |= from.large;
  into.bitcodeBytes += from.bitcodeBytes;
  for (const std::string &name : from.lateSections)
    if (!is_contained(into.lateSections, name))
      into.lateSections.push_back(name);
  into.slimArchives.insert(into.slimArchives.end(), from.slimArchives.begin(),
                           from.slimArchives.end());
  into.stackCode.insert(into.stackCode.end(), from.stackCode.begin(),
                        from.stackCode.end());
}

/// Null for a pipe as well: what is read here lld would not get.
static std::unique_ptr<MemoryBuffer> openInput(StringRef path) {
  if (!sys::fs::is_regular_file(path))
    return nullptr;
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  return file ? std::move(*file) : nullptr;
}

static bool isArchive(StringRef contents) {
  return contents.starts_with("!<arch>\n") || contents.starts_with("!<thin>\n");
}

/// Whether a pipe is among all that the command line names but the output.
static bool readsPipe(const LinkRequest &request) {
  return any_of(request.lldArgs, [&](StringRef arg) {
    if (arg.starts_with("-"))
      arg = arg.split('=').second;
    sys::fs::file_status status;
    return !arg.empty() && arg != request.outputPath &&
           !sys::fs::status(arg, status) &&
           status.type() == sys::fs::file_type::fifo_file;
  });
}

ScanResult mpg::scanObjects(const LinkRequest &request, UnscannedInputs &rest) {
  Scanner scanner(/*enoughBytes=*/0);
  for (const LinkInput &input : request.inputs) {
    // Opening a thousand archives would take longer than the objects.
    if (input.isLibrary || StringRef(input.name).ends_with(".a")) {
      rest.archives.push_back(input);
      continue;
    }
    std::unique_ptr<MemoryBuffer> file = openInput(input.name);
    if (!file)
      continue;
    StringRef contents = file->getBuffer();
    if (isArchive(contents))
      rest.archives.push_back(input);
    else if (isBitcode(contents.bytes_begin(), contents.bytes_end()))
      rest.bitcode.push_back(input);
    else
      scanner.scanFile(contents, input.name, scanner.result.slimObjects);
  }
  scanner.result.readsPipe = readsPipe(request);
  if (!request.emulation.empty())
    scanner.result.machine = machineOfEmulation(request.emulation);
  return std::move(scanner.result);
}

static ScanResult scanInput(const LinkRequest &request, const LinkInput &input,
                            uint64_t enoughBytes) {
  Scanner scanner(enoughBytes);
  std::string path = input.isLibrary ? findLibrary(request, input) : input.name;
  std::unique_ptr<MemoryBuffer> file = path.empty() ? nullptr : openInput(path);
  if (!file)
    return {};
  if (isArchive(file->getBuffer()))
    scanner.scanArchive(file->getMemBufferRef());
  else
    scanner.scanFile(file->getBuffer(), path, scanner.result.slimArchives);
  return std::move(scanner.result);
}

ScanResult mpg::scanFiles(const LinkRequest &request,
                          ArrayRef<LinkInput> inputs, uint64_t enoughBytes) {
  ScanResult result;
  unsigned threads = std::min(8u, std::thread::hardware_concurrency());
  orderedParallel<ScanResult>(
      inputs.size(), std::min<size_t>(threads, inputs.size()),
      [&](size_t index) {
        return scanInput(request, inputs[index], enoughBytes);
      },
      [&](const ScanResult &input) { merge(result, input); });
  return result;
}
