// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/message_csv.h"

#include <fmt/format.h>

#include <stdexcept>

namespace hca::testbench {
MessageCsv::MessageCsv(const std::string& path) : path_(path), file_(path) {
  if (!file_) throw std::runtime_error(path + ": cannot be written");
  file_ << "hca,qpn,wqe_index,entry,operation,bytes,start_ps";
  for (std::size_t s = 1; s < kStations; ++s) file_ << fmt::format(",\"{}\"", kStationNames[s]);
  file_ << '\n';
}

void MessageCsv::add(const MessageTimes& message) {
  std::array<u64, kStations> steps;
  steps.fill(MessageTimes::kNever);
  u64 from = message.start();
  for (const auto& [station, at] : message.way()) {
    steps[std::size_t(station)] = at - from;
    from = at;
  }
  std::string line =
      fmt::format("{},{},{},{},{},{},{}", message.chip, message.qpn, message.index, message.entry,
                  name_of(message.operation), message.bytes, message.start());
  for (std::size_t s = 1; s < kStations; ++s)
    line += steps[s] == MessageTimes::kNever ? "," : fmt::format(",{}", steps[s]);
  file_ << line << '\n';
}

void MessageCsv::close() {
  if (!file_.flush()) throw std::runtime_error(path_ + ": cannot be written");
}
}  // namespace hca::testbench
