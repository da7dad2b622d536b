// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instrumentation that computes with the addresses of accesses, and runs behind
// our last pass: -fsanitize=dataflow, -fmemory-profile and
// -fsanitize-coverage. A tag would become a part of its addresses, and nothing
// in a function tells that it is going to come; other sanitizers have an
// attribute (base/Access.h). So the tags are taken off again just before.

#ifndef MPG_PASSES_ADDRESSREADERS_H
#define MPG_PASSES_ADDRESSREADERS_H

namespace llvm {
class PassInstrumentationCallbacks;
}

namespace mpg {

void watchAddressReaders(llvm::PassInstrumentationCallbacks &callbacks);

} // namespace mpg

#endif // MPG_PASSES_ADDRESSREADERS_H
