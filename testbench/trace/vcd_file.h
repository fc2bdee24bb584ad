// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <string>
#include <vector>

#include "testbench/testbed/testbed.h"
#include "testbench/trace/by_time.h"

namespace hca::testbench {
// A value change dump (IEEE 1364) with the fill level of each link, budget and mailbox of all
// chips, under the block that reads it, and the number of frames that pass the receiving end of
// each direction of each wire. A level is the one after the last block of its cycle: mail counts
// from the cycle in which it is due, room of a budget until the cycle in which it is returned. Time
// is in picoseconds. The same run gives the same bytes, independent of quanta and of the ticked
// blocks.
class VcdFile {
 public:
  VcdFile(const std::string& path, Testbed& testbed);
  ~VcdFile();
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
  struct Chip {
    VcdFile* file = nullptr;
    engine::Domain* domain = nullptr;
    u64 period = 0;
    std::size_t first = 0;  // its signals follow the order of its domain's list
    std::vector<u64> values;
    Cycle seen = 0;  // all changes up to this cycle are recorded
    u64 time_of(Cycle at) const { return at * period; }
  };
  void declare();
  void declare(std::size_t signal, const std::string& name, unsigned width);
  // Records changes before cycle `to` in cycles in which no block ran.
  void catch_up(Chip& chip, Cycle to);
  void sample(Chip& chip, Cycle at);
  void hand_on();
  void note(std::size_t signal, u64 picoseconds, Change change);
  void frame(unsigned wire, u8 sender, u64 picoseconds, std::size_t bytes);
  void write(u64 picoseconds, const Change& change);

  std::string path_;
  std::ofstream file_;
  Testbed& testbed_;
  std::vector<Signal> signals_;
  std::vector<Chip> chips_;  // by node
  std::size_t wire_ = 0;     // the first of its signals
  ByTime<Change> changes_;
  u64 written_at_ = 0;
  std::vector<engine::LevelChange> found_;
};
}  // namespace hca::testbench
