// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlainLink.h. Asked for in so many words, the runtime is linked all the
// same.

#include "PlainLink.h"
#include "LinkMessages.h"
#include "LinkOutput.h"
#include "LinkPlugin.h"
#include "LinkRuntime.h"
#include "LldProcess.h"
#include "Support/Format.h"

using namespace llvm;
using namespace mpg;

/// Looks for what is added even without the layout. False if it is missing,
/// which has been said then.
static bool findAdditions(LinkContext &link) {
  if (link.request.runtime == RuntimeChoice::yes &&
      link.request.output != OutputKind::other && !findRuntime(link))
    return false;
  checkPassPlugin(link);
  return true;
}

static std::vector<std::string> plainCommand(const LinkContext &link) {
  Additions additions;
  additions.passPlugin = link.passPlugin;
  addRuntime(link, additions);
  return lldCommand(link.request, additions);
}

int mpg::linkAsIs(LinkContext &link) {
  if (!findAdditions(link))
    return 1;
  becomeLld(plainCommand(link));
}

static void warnOfLayout(const LinkRequest &request,
                         const OutputFacts &output) {
  warning() << printable(request.outputPath) << ": '"
            << printable(request.userScript)
            << "' decides the layout, and it does not suit large pages:\n";
  for (const std::string &reason : output.broken)
    warning() << printable(request.outputPath) << ": " << printable(reason)
              << "\n";
}

int mpg::linkUnderScript(LinkContext &link) {
  if (!findAdditions(link))
    return 1;
  Expected<Child> child = startLld(plainCommand(link));
  if (!child)
    return failed(child.takeError());
  if (int status = child->finish())
    return status;
  const LinkRequest &request = link.request;
  OutputFacts output = readOutput(request.outputPath, request.hugeBytes);
  if (output.dataBytes >= request.minBytes && !output.broken.empty())
    warnOfLayout(request, output);
  return 0;
}
