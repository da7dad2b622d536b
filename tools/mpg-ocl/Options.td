// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of mpg-ocl: parsing, --help and "did you mean" are made from this
// file. Those with one dash are flang's, with the same meaning, so that a
// wrapper hands on what it was given.

include "OptionClasses.td"

class CompilerFlag<string name, string help>
    : Flag<["-"], name>, HelpText<help>;
class CompilerWord<string name, string metavar, string help>
    : JoinedOrSeparate<["-"], name>, MetaVarName<metavar>, HelpText<help>;

def output : CompilerWord<"o", "FILE", "write the hints to FILE">;
def flang : Joined<["--"], "flang=">, MetaVarName<"FILE">, HelpText<
    "take a command line of flang: write the hints to FILE, and\n"
    "pass over all that is not known here or cannot be read">;
def fixed_form : CompilerFlag<"ffixed-form",
    "the sources have fixed form (default for .f, .for and .fpp)">;
def free_form : CompilerFlag<"ffree-form",
    "the sources have free form (default for the others)">;
def fixed_line_length : Joined<["-"], "ffixed-line-length=">,
    MetaVarName<"N">, HelpText<"columns of fixed form (72; 0 or none: all)">;
def fixed_line_length_dash : Joined<["-"], "ffixed-line-length-">,
    Alias<fixed_line_length>;
def no_underscoring : CompilerFlag<"fno-underscoring",
    "the names of external procedures get no final '_'">;
def cpp : CompilerFlag<"cpp",
    "use -D and -U for all (default for .F, .F90 and so on)">;
def nocpp : CompilerFlag<"nocpp", "use -D and -U for none">;
def Rpass : Joined<["-"], "Rpass=">, MetaVarName<"REGEX">, HelpText<
    "if it fits mpg: say which directives have become hints">;
def Rpass_missed : Joined<["-"], "Rpass-missed=">, MetaVarName<"REGEX">,
    HelpText<"if it fits mpg: say which directives have no effect">;
def D : CompilerWord<"D", "NAME[=VALUE]", "define a macro for #if">;
def U : CompilerWord<"U", "NAME", "undefine a macro">;
