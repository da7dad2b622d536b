# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""thousand_lines.py: prints a C++ program of a thousand lines, as people write
them: some headers of the standard library, classes, and functions that use
containers. Always the same one."""

print("#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>")
for n in range(62):
    print(f"""
struct Item{n} {{
  std::string name;
  std::vector<double> values;
  std::map<int, std::string> notes;
  double sum() const {{
    double total = {n};
    for (double value : values)
      total += value * {n + 1};
    return total;
  }}
}};
bool isLess{n}(const Item{n} &a, const Item{n} &b) {{ return a.sum() < b.sum(); }}
void arrange{n}(std::vector<Item{n}> &items) {{
  std::sort(items.begin(), items.end(), isLess{n});
}}""")
