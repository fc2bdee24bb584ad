// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <string>
#include <vector>

#include "testbench/testbed/testbed.h"
#include "testbench/trace/by_time.h"
#include "testbench/trace/level_changes.h"

namespace hca::testbench {
// A value change dump (IEEE 1364) with the fill level of each link, budget and mailbox of all
// chips, under the block that reads it, and the number of frames that pass the receiving end of
// each direction of each wire. Time is in picoseconds. The same run gives the same bytes,
// independent of quanta and of the ticked blocks.
class VcdFile {
 public:
  VcdFile(const std::string& path, Testbed& testbed);
  VcdFile(const VcdFile&) = delete;
  void close();

 private:
  struct Signal {
    unsigned width;
    std::string id;
    u64 value = 0;
  };
  struct Change {
    std::size_t signal;
    u64 value;  // or the increment
    bool adds;
  };
  void declare();
  void declare(std::size_t signal, const std::string& name, unsigned width);
  void note(std::size_t signal, u64 picoseconds, Change change);
  void frame(unsigned wire, u8 sender, u64 picoseconds, std::size_t bytes);
  void write(u64 picoseconds, const Change& change);

  std::string path_;
  std::ofstream file_;
  Testbed& testbed_;
  std::vector<Signal> signals_;
  std::vector<std::size_t> first_;  // signal by node: they follow the order of its domain's list
  std::size_t wire_ = 0;            // the first of its signals
  ByTime<Change> changes_;
  u64 written_at_ = 0;
  LevelChanges levels_;
};
}  // namespace hca::testbench
