// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <string>

#include "testbench/trace/message_log.h"

namespace hca::testbench {
// Every message as a line of CSV, in the order in which their completions are taken:
// hca,qpn,wqe_index,entry,operation,bytes,start_ps, then the picoseconds of each step; a missing step is empty.
class MessageCsv {
 public:
  explicit MessageCsv(const std::string& path);
  void add(const MessageTimes& message);
  void close();

 private:
  std::string path_;
  std::ofstream file_;
};
}  // namespace hca::testbench
