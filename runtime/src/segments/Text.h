// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG_TEXT=auto: code and constants on large pages of the page cache. The
// kernel maps such a page where address and place in the file agree modulo 2
// MiB, and the page cache holds the 2 MiB in one piece. Nothing is copied or
// written, so debuggers and profilers see the file as before.

#ifndef MPG_RUNTIME_TEXT_H
#define MPG_RUNTIME_TEXT_H

namespace mpg {

struct Config;
class Messages;

/// Asks for large pages for the program, with MPG_REMAP=all for its libraries
/// too, and reads small pages of the file anew where they are in the way. Prints
/// at most one line; mpgrun gets a region for each segment of the program.
void adviseText(const Config &config, Messages &messages);

} // namespace mpg

#endif // MPG_RUNTIME_TEXT_H
