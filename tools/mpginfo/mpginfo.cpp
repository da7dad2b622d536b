// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpginfo: tells what this node and this job give a program that wants large
// pages. Here are only the command line and the exit status; what is looked at
// is in lib/Node/Node.h, what it comes to in lib/Node/Verdict.h.

#include "Node/Verdict.h"
#include "Options.h"
#include "Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static int run(const InfoOptions &options) {
  SysTree tree(options.root);
  if (!tree.exists("/proc") && !tree.exists("/sys")) {
    errs() << "mpginfo: error: " << printable(options.root)
           << " has neither proc nor sys in it; nothing can be said about the "
              "node; --root= is the folder that holds a copy of them\n";
    return 2;
  }
  Node node = readNode(tree);
  Verdict verdict = judgeNode(node, options.neededPages);
  if (options.json)
    writeNodeJson(outs(), node, verdict);
  else
    // Of a copy of another machine's files nobody knows who reads them.
    writeNodeText(outs(), node, verdict,
                  geteuid() == 0 || options.root != "/");
  return verdict.isGood() ? 0 : 1;
}

int main(int argc, char **argv) {
  int status = 0;
  outs().SetBuffered();
  if (std::optional<InfoOptions> options = parseOptions(argc, argv, status))
    status = run(*options);
  outs().flush();
  if (outs().has_error()) {
    errs() << "mpginfo: error: cannot write the report: "
           << outs().error().message() << "\n";
    outs().clear_error();
    status = 2;
  }
  // A closed or full standard error loses messages, not the exit status.
  errs().clear_error();
  return status;
}
