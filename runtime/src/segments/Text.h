// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG_TEXT: code and constants on large pages. `auto` takes those of the page
// cache: the kernel maps such a page where address and place in the file agree
// modulo 2 MiB, and the page cache holds the 2 MiB in one piece. Nothing is
// copied or written, so debuggers and profilers see the file as before. `copy`
// needs none of this, and gives each process its own pages (TextCopy.h).

#pragma once

namespace mpg {

struct Config;
class Messages;

/// Puts code and constants of the program, with MPG_REMAP=all of its libraries
/// too, on large pages as \p config says. Prints at most one line; mpgrun gets
/// a region for each segment of the program. pre: one thread.
void placeText(const Config &config, Messages &messages);

} // namespace mpg
