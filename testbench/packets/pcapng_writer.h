// SPDX-License-Identifier: Apache-2.0
// A pcapng file with an interface for each wire, with nanoseconds.
#pragma once
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "testbench/packets/pcap_file.h"

namespace hca::testbench {
class PcapngWriter {
 public:
  // All errors are std::runtime_error with the file's name.
  PcapngWriter(const std::string& path, LinkType type, std::span<const std::string> interfaces);
  // `interface`: index in the list. `direction`: pcapng::kInbound or kOutbound; 0: unknown.
  void write(u32 interface, u64 time_ns, std::span<const u8> frame, u32 direction = 0);
  void flush();
  void close() { flush(); }

 private:
  void put_block(u32 type, const std::vector<u8>& body);

  std::string path_;
  LinkType type_;
  std::ofstream file_;
  std::vector<u8> record_, body_;
};
}  // namespace hca::testbench
