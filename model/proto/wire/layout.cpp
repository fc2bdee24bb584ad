// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/layout.h"

#include <stdexcept>
#include <string>

namespace hca::proto {

void refuse_value(std::string_view header, std::string_view field, unsigned bits, u64 value) {
  throw std::out_of_range(std::string(header) + "." + std::string(field) + ": " +
                          std::to_string(value) + " does not fit " + std::to_string(bits) +
                          " bits");
}

}  // namespace hca::proto
