// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Fold.h.

#include "mpginfo/Fold/Fold.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace mpg;

/// Of other nodes at a time, so that nobody fills the memory.
static constexpr size_t maxOpen = 100000;

/// `srun --label` cuts a line after 1,024 bytes, also in a string or a number;
/// no JSON needs the end of a line.
void FoldReader::Open::add(StringRef line) {
  if (text.size() + line.size() > maxAnswerBytes)
    isTooLong = true;
  if (!isTooLong)
    text += line;
  for (char letter : line) {
    if (isEscaped)
      isEscaped = false;
    else if (isString && letter == '\\')
      isEscaped = true;
    else if (letter == '"')
      isString = !isString;
    else if (!isString && (letter == '{' || letter == '['))
      ++depth;
    else if (!isString && (letter == '}' || letter == ']') && depth)
      --depth;
  }
}

void FoldReader::close(StringRef node, const Open &answer, bool isWhole) {
  StringRef text = StringRef(answer.text).rtrim();
  report({node.str(), text.str(), true, isWhole, answer.isTooLong});
}

/// "clush: n5: exited with exit code 1", "srun: error: n5: ...", "pdsh@head: ":
/// the speaker is not a node.
static StringRef dropSpeaker(StringRef line) {
  auto [speaker, rest] = line.split(": ");
  if (speaker == "srun")
    rest.consume_front("error: ");
  return speaker == "clush" || speaker == "srun" || speaker.starts_with("pdsh@")
             ? rest
             : line;
}

/// The name in front of ": "; \p line becomes the rest.
static StringRef readName(StringRef &line) {
  auto [name, rest] = line.split(": ");
  constexpr size_t maxNameBytes = 255;
  name = name.trim();
  if (rest.empty() || name.size() > maxNameBytes)
    return "";
  line = rest;
  return name;
}

void FoldReader::readLine(StringRef line) {
  StringRef text = dropSpeaker(line.rtrim("\r"));
  // So begin the lines of indented JSON.
  bool isNameless = text.starts_with("{") || text.starts_with("}");
  if (open.count("") && !text.empty())
    isNameless |= StringRef(" \t]\"").contains(text.front());
  StringRef node = isNameless ? "" : readName(text);
  if (text.trim().empty())
    return;
  auto found = open.find(node);
  bool isNext = text == "{" || text.starts_with("{\"schema\"");
  if (isNext && found != open.end()) {
    close(node, found->second, /*isWhole=*/false);
    open.erase(found);
    found = open.end();
  }
  if (found == open.end()) {
    if (!text.starts_with("{") || open.size() == maxOpen)
      return report(
          {node.str(), text.take_front(maxAnswerBytes).str(), false, false});
    found = open.try_emplace(node).first;
  }
  Open &answer = found->second;
  answer.add(text);
  if (answer.depth)
    return;
  close(node, answer, /*isWhole=*/true);
  open.erase(found);
}

std::error_code FoldReader::read(const std::string &path) {
  int file = path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return {errno, std::generic_category()};
  std::vector<char> block(1 << 16);
  std::string line;
  std::error_code error;
  while (ssize_t count = ::read(file, block.data(), block.size())) {
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      error = {errno, std::generic_category()};
      break;
    }
    StringRef rest(block.data(), size_t(count));
    while (!rest.empty()) {
      auto [part, after] = rest.split('\n');
      // One byte more, so that the answer is seen to be too long.
      line += part.take_front(maxAnswerBytes + 1 -
                              std::min(line.size(), maxAnswerBytes + 1));
      if (part.size() == rest.size())
        break;
      readLine(line);
      line.clear();
      rest = after;
    }
  }
  if (file)
    ::close(file);
  readLine(line);
  for (const auto &entry : open)
    close(entry.first(), entry.second, /*isWhole=*/false);
  open.clear();
  return error;
}
