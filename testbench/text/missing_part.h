// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>
#include <string>

namespace hca::testbench {
// The request needs a part of the program that this build leaves out (HCA_PARTS). The command line
// builds the part and starts again; other callers get the sentence.
class MissingPart : public std::runtime_error {
 public:
  // `what`: the command, option or key that needs it.
  MissingPart(const std::string& name, const std::string& what)
      : runtime_error(what + ": this program was built without its part \"" + name + "\""),
        part(name),
        asked_for(what) {}
  const std::string part, asked_for;
};
}  // namespace hca::testbench
