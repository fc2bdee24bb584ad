// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <fstream>
#include <memory>

#include "testbench/programs/server/server.h"
#include "testbench/trace/wire_capture.h"

namespace hca::attach {
// The files that a server writes while it serves: frames of the wires (run.pcap, with two ports
// run.pcapng), counters of all blocks (counters.csv), effects of faults (faults.csv), and a summary
// of programs, ports and faults (summary.json). Captures and faults.csv grow; the others are
// rewritten twice a second while simulated time advances. Captures are also flushed before the
// server sleeps.
class Records {
 public:
  // Throws std::runtime_error if the directory cannot be written.
  Records(const std::string& directory, Server& server, bool captures);
  // Called from outside the simulation; `idle`: nothing is in flight.
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
  u64 last_ = 0;              // last write, in ns
  u64 written_at_ = ~u64{0};  // simulated
};
}  // namespace hca::attach
