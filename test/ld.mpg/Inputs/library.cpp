// A shared library with large .data and .bss, called from program.cpp: an
// inline variable that both have must be one object, an exception thrown here
// is caught there, and the program reads libraryData directly.

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

double libraryData[300000] = {7.5, 8.5};
double libraryBss[400000];
inline std::map<std::string, int> table = {{"one", 1}, {"two", 2}};
static std::vector<int> list(1000, 5);
static thread_local std::string local = "library";

int libraryCheck() {
  table["three"] = 3;
  libraryBss[399999] = libraryData[1];
  local += list[999] == 5 ? "!" : "?";
  if (local != "library!" || libraryBss[0] != 0 || libraryBss[399999] != 8.5)
    throw std::runtime_error("a value of the library is wrong");
  throw std::out_of_range("library");
}
