// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <fstream>
#include <memory>

#include "testbench/programs/server/server.h"
#include "testbench/trace/wire_capture.h"

namespace hca::attach {
// What a server writes while it serves: frames of the wires (run.pcap, with two ports run.pcapng),
// counters of all blocks (counters.csv), what faults did (faults.csv), and a summary of programs,
// ports and faults (summary.json). Captures and faults.csv grow, the others are replaced as a
// whole: twice a second as long as simulated time passes. Captures are flushed before the server
// sleeps, too.
class Records {
 public:
  // Throws std::runtime_error: the directory cannot be written.
  Records(const std::string& directory, Server& server, bool captures);
  // From outside of the simulation; `idle`: nothing is under way.
  void pause(bool idle);
  void close();

 private:
  void write(bool idle, bool ended);
  std::string counters() const;
  std::string summary(bool ended) const;
  void write_faults();

  const std::filesystem::path folder_;
  Server& server_;
  std::unique_ptr<testbench::WireCapture> capture_;
  std::ofstream faults_;
  u64 faults_done_ = 0;
  u64 last_ = 0;              // when, in ns
  u64 written_at_ = ~u64{0};  // simulated
};
}  // namespace hca::attach
