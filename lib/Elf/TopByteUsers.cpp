// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TopByteUsers.h. Numbers are those of the ELF documents for AArch64 (the
// memory tagging and the PAuth ABI extension) and of Android; elf.h of older
// systems does not have them.

#include "Elf/TopByteUsers.h"
#include "Elf/Image.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <elf.h>

using namespace llvm;
using namespace mpg;

static constexpr uint64_t memtagMode = 0x70000009;    // DT_AARCH64_MEMTAG_MODE
static constexpr uint64_t memtagHeap = 0x7000000b;    // ..._HEAP
static constexpr uint64_t memtagStack = 0x7000000c;   // ..._STACK
static constexpr uint64_t memtagGlobals = 0x7000000d; // ..._GLOBALS
static constexpr uint32_t androidMemtagNote = 4;      // NT_ANDROID_TYPE_MEMTAG
static constexpr uint32_t gnuPropertyNote = 5;        // NT_GNU_PROPERTY_TYPE_0
static constexpr uint32_t pauthProperty = 0xc0000001;

static std::string findSanitizer(Image &image) {
  std::string found;
  auto visit = [&](const Symbol &symbol) {
    if (found.empty() && symbol.name.starts_with("__hwasan_"))
      found = "symbol " + symbol.name.str();
  };
  if (image.isLoadable()) {
    for (StringRef name : image.dynamic().needed)
      if (name.contains("clang_rt.hwasan"))
        return name.str() + " in DT_NEEDED";
    image.forEachImport(visit);
  }
  image.forEachSymbol(visit);
  return found;
}

/// DT_AARCH64_MEMTAG_* of the dynamic section; Image keeps only what others ask
/// for more often.
static std::string findMemtagEntry(Image &image) {
  const Segment *segment = image.findSegment(PT_DYNAMIC);
  if (!segment)
    return {};
  uint8_t entry[sizeof(Elf64_Dyn)];
  for (uint64_t at = 0; at + sizeof(entry) <= segment->fileBytes;
       at += sizeof(entry)) {
    if (!image.readMemory(segment->address + at, entry))
      return {};
    uint64_t tag = support::endian::read64le(entry);
    if (tag == DT_NULL)
      return {};
    if (tag == memtagMode || tag == memtagHeap || tag == memtagStack ||
        tag == memtagGlobals)
      return "dynamic entry 0x" + utohexstr(tag, /*LowerCase=*/true) +
             " (DT_AARCH64_MEMTAG)";
  }
  return {};
}

/// Whether a note of GNU properties has one of type \p wanted.
static bool hasProperty(StringRef properties, uint32_t wanted) {
  while (properties.size() >= 8) {
    uint32_t type = support::endian::read32le(properties.data());
    uint64_t bytes = support::endian::read32le(properties.data() + 4);
    if (type == wanted)
      return true;
    // substr() stops at the end, whatever the size claims.
    properties = properties.substr(8 + ((bytes + 7) & ~uint64_t(7)));
  }
  return false;
}

std::vector<TopByteUser> mpg::findTopByteUsers(Image &image) {
  std::vector<TopByteUser> users;
  if (image.machine() != Machine::aarch64)
    return users;
  auto add = [&](StringRef sub, StringRef name, std::string evidence) {
    if (!evidence.empty())
      users.push_back({sub.str(), name.str(), std::move(evidence)});
  };
  std::string memtag = findMemtagEntry(image), pauth;
  forEachNoteBlock(image, [&](StringRef block) {
    forEachNote(block, [&](StringRef name, uint32_t type, StringRef contents) {
      name = name.take_until([](char c) { return c == '\0'; });
      if (name == "Android" && type == androidMemtagNote)
        memtag = "Android's note of memory tagging";
      if (name == "GNU" && type == gnuPropertyNote &&
          hasProperty(contents, pauthProperty))
        pauth = "GNU property 0xc0000001 (PAuth ABI)";
    });
  });
  add("hwasan", "HWAddressSanitizer", findSanitizer(image));
  add("memtag", "Arm's memory tagging", std::move(memtag));
  add("pauth", "the PAuth ABI of signed pointers", std::move(pauth));
  return users;
}

bool mpg::tagsHeap(StringRef tunables) {
  bool tags = false;
  while (!tunables.empty()) {
    auto [item, rest] = tunables.split(':');
    unsigned value;
    if (item.consume_front("glibc.mem.tagging=") &&
        !item.getAsInteger(0, value))
      tags = value & 1;
    tunables = rest;
  }
  return tags;
}
