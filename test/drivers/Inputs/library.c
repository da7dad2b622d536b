// A shared library with large data.
int libraryData[900000] = {5};
int libraryBss[900000];

int libraryCheck(void) {
  libraryBss[899999] = libraryData[0];
  return libraryBss[899999] + libraryBss[0];
}
