// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What make and ninja read.

#include "Link/LldCommand.h"
#include "gtest/gtest.h"

using namespace mpg;

TEST(DependencyFile, DoesNotNameOurObjects) {
  // As lld writes them: a rule, then an empty rule for each input.
  EXPECT_EQ(withoutDependencies("out: \\\n /f/3 \\\n a.o \\\n /f/4\n\n"
                                "/f/3:\n\na.o:\n\n/f/4:\n",
                                {"/f/3", "/f/4"}),
            "out: \\\n a.o\n\n\na.o:\n\n");
  EXPECT_EQ(withoutDependencies("out: \\\n a.o\n\na.o:\n", {"/f/3"}),
            "out: \\\n a.o\n\na.o:\n");
}
