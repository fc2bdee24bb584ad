// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <string>
#include <vector>

#include "testbench/testbed/testbed.h"
#include "testbench/trace/by_time.h"

namespace hca::testbench {
// A value change dump (IEEE 1364) with how full each link, budget and mailbox of all chips is,
// below the block that reads it, and how many frames pass the receiving end of each direction of
// each wire. A level is that behind the last block of its cycle: mail counts from the cycle in
// which it is due, room of a budget until the one in which it is given back; time is in
// picoseconds. The same run has the same bytes, however far chips run ahead and whatever blocks are
// ticked.
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
    u64 value;  // or what is added to it
    bool adds;
  };
  struct Chip {
    VcdFile* file = nullptr;
    engine::Domain* domain = nullptr;
    u64 period = 0;
    std::size_t first = 0;  // its signals are in the order of its domain's list
    std::vector<u64> values;
    Cycle seen = 0;  // all changes up to this one are noted
    u64 time_of(Cycle at) const { return at * period; }
  };
  void declare();
  void declare(std::size_t signal, const std::string& name, unsigned width);
  // What changed in the cycles before `to` in which no block ran.
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
