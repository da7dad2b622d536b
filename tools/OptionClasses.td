// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the options of all programs are made of, and the two that each has. From a
// program's Options.td come parsing, --help, "did you mean", completion and the
// section OPTIONS of its man page (test/tools/table_pages.py).

include "llvm/Option/OptParser.td"

/// What the man page says, in Markdown; an option without is listed with the one
/// in front of it.
class Manual<string text> { string Manual = text; }
/// The heading in the man page above this option.
class Section<string title> { string Section = title; }

class LongFlag<string name, string help>
    : Flag<["--"], name>, HelpText<help>;
class LongValue<string name, string metavar, string help>
    : Joined<["--"], name # "=">, MetaVarName<metavar>, HelpText<help>;

def help : LongFlag<"help", "print this text">, Manual<"Print the options.">;
def h : Flag<["-"], "h">, Alias<help>;
def version : LongFlag<"version", "print the version">,
    Manual<"Print the version.">;
