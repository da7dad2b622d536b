// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text: strings that grow, streams, splitting, formatting, a word count.
#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

static std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

static std::string rotated(std::string text, int by) {
  for (char &c : text)
    if (c >= 'a' && c <= 'z')
      c = char('a' + (c - 'a' + by + 26) % 26);
  return text;
}

static bool isPalindrome(const std::string &text) {
  return std::equal(text.begin(), text.begin() + long(text.size() / 2),
                    text.rbegin());
}

int main() {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += "word" + std::to_string(i * i % 19);
    text.insert(text.size() / 2, i % 5 ? " " : ", ");
    text.append(size_t(i % 3), 'x') += ' ';
  }
  std::map<std::string, int> counts;
  for (std::string_view word : split(text, ' '))
    ++counts[std::string(word)];
  std::ostringstream table;
  for (const auto &[word, count] : counts)
    table << std::setw(10) << word.substr(0, 9) << '=' << std::hex << count
          << ';';
  std::istringstream numbers("1 2.5 -3e2 77 x");
  double number, sum = 0;
  while (numbers >> number)
    sum += number;
  int palindromes = 0;
  for (int i = 0; i < 3000; ++i)
    palindromes += isPalindrome(std::to_string(i));
  std::string there = rotated(text, 5), back = rotated(there, -5);
  std::string upper(text.rbegin(), text.rend());
  std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
  std::cout << text.size() << ' ' << table.str().substr(0, 200) << '\n'
            << std::fixed << std::setprecision(3) << sum << ' ' << palindromes
            << ' ' << upper.substr(0, 80) << ' ' << there.find("btwi18")
            << '\n';
  return back == text && palindromes == 10 + 9 + 90 + 20 ? 0 : 1;
}
