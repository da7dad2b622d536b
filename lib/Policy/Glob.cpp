// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ways to match are followed at once, one character after the other: a
// state is the number of the token that is to be matched next.

#include "Policy/Glob.h"

using namespace llvm;
using namespace mpg;

void Glob::add(Kind kind) {
  tokens.push_back({kind, {}});
  wild = true;
}

void Glob::addCharacter(char character) {
  tokens.push_back({Kind::oneOf, {}});
  tokens.back().set.set(uint8_t(character));
}

void Glob::addFolders() {
  add(Kind::maybeFolders);
  add(Kind::inFolders);
}

/// "[a-z]", \p at its bracket, and after the closing one afterwards. Returns
/// what is wrong with it.
std::string Glob::addSet(StringRef pattern, size_t &at) {
  std::bitset<256> set;
  size_t i = at + 1;
  bool isNegated =
      i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  i += isNegated;
  // A bracket that comes first is one of the characters.
  for (size_t first = i;; ++i) {
    if (i >= pattern.size())
      return "'[' is not closed";
    if (pattern[i] == ']' && i != first)
      break;
    uint8_t low = uint8_t(pattern[i]), high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' &&
        pattern[i + 2] != ']') {
      high = uint8_t(pattern[i + 2]);
      i += 2;
    }
    if (high < low)
      return "the range '" + pattern.substr(i - 2, 3).str() + "' is empty";
    for (unsigned character = low; character <= high; ++character)
      set.set(character);
  }
  if (isNegated)
    set.flip();
  set.reset('/');
  add(Kind::oneOf);
  tokens.back().set = set;
  at = i + 1;
  return "";
}

Expected<Glob> Glob::parse(StringRef pattern) {
  Glob glob;
  for (size_t at = 0; at < pattern.size();) {
    StringRef rest = pattern.substr(at);
    bool startsPart = at == 0 || pattern[at - 1] == '/';
    std::string wrong;
    if (startsPart && rest.starts_with("**/")) {
      glob.addFolders();
      at += 3;
    } else if (rest.starts_with("*")) {
      size_t count = rest.size() - rest.ltrim('*').size();
      glob.add(count > 1 ? Kind::doubleStar : Kind::star);
      at += count;
    } else if (rest.starts_with("?")) {
      glob.add(Kind::oneOf);
      glob.tokens.back().set.set().reset('/');
      ++at;
    } else if (rest.starts_with("[")) {
      wrong = glob.addSet(pattern, at);
    } else if (rest == "\\") {
      wrong = "nothing stands behind the last '\\'";
    } else {
      at += rest.starts_with("\\");
      glob.addCharacter(pattern[at++]);
    }
    if (!wrong.empty())
      return make_error<StringError>(wrong, inconvertibleErrorCode());
  }
  return glob;
}

Expected<Glob> Glob::parsePath(StringRef pattern) {
  Expected<Glob> glob = parse(pattern);
  if (!glob || pattern.starts_with("/"))
    return glob;
  Glob anywhere;
  anywhere.addCharacter('/');
  anywhere.addFolders();
  anywhere.tokens.insert(anywhere.tokens.end(), glob->tokens.begin(),
                         glob->tokens.end());
  anywhere.wild = glob->wild;
  return anywhere;
}

/// Marks \p state and those that are reached from there without a character.
void Glob::enter(std::vector<bool> &states, size_t state) const {
  while (!states[state]) {
    states[state] = true;
    if (state == tokens.size())
      return;
    switch (tokens[state].kind) {
    case Kind::oneOf:
    case Kind::inFolders:
      return;
    case Kind::star:
    case Kind::doubleStar:
      ++state;
      break;
    case Kind::maybeFolders:
      states[state + 1] = true;
      state += 2;
      break;
    }
  }
}

/// Most paths do not end as the pattern does, and need no further look.
bool Glob::endsAlike(StringRef text) const {
  for (size_t i = tokens.size(); i && tokens[i - 1].kind == Kind::oneOf; --i) {
    if (text.empty() || !tokens[i - 1].set[uint8_t(text.back())])
      return false;
    text = text.drop_back();
  }
  return true;
}

bool Glob::match(StringRef text) const {
  if (!endsAlike(text))
    return false;
  std::vector<bool> states(tokens.size() + 1), next;
  enter(states, 0);
  for (char character : text) {
    next.assign(tokens.size() + 1, false);
    for (size_t state = 0; state < tokens.size(); ++state) {
      if (!states[state])
        continue;
      const Token &token = tokens[state];
      if (token.kind == Kind::oneOf && token.set[uint8_t(character)])
        enter(next, state + 1);
      else if (token.kind == Kind::doubleStar ||
               token.kind == Kind::inFolders ||
               (token.kind == Kind::star && character != '/'))
        enter(next, state);
      if (token.kind == Kind::inFolders && character == '/')
        enter(next, state + 1);
    }
    states.swap(next);
  }
  return states.back();
}

bool Glob::isLiteral() const { return !wild; }
