// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "testbench/programs/server/packet_socket.h"

namespace hca::attach {
// The files that name the XRC domains of an HCA for programs. Each stays open, so that no other file
// gets its inode.
class XrcDomainFiles {
 public:
  // The number of the domain with this file; empty: none has it.
  std::optional<u32> find(const Descriptor& file) const;
  void add(u32 number, Descriptor file) { rows_.push_back({number, std::move(file)}); }
  void remove(u32 number);

 private:
  struct Row {
    u32 number;
    Descriptor file;
  };
  std::vector<Row> rows_;
};
}  // namespace hca::attach
