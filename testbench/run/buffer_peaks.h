// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "testbench/run/overlap_peak.h"
#include "testbench/testbed/testbed.h"

namespace hca::testbench {
// The most that each buffer held in the parts of a run: links, mailboxes and budgets of the chips,
// receive buffers of their ports, tags, credits and page walkers of PCIe, completion queues and the
// queues of open loops at the hosts. The level of a chip's object is that after all blocks of a
// cycle, in any cycle, so it depends neither on their order nor on which cycles run. It only
// observes.
class BufferPeaks {
 public:
  explicit BufferPeaks(Testbed& testbed);
  ~BufferPeaks();
  BufferPeaks(const BufferPeaks&) = delete;

  // A part of the run begins or ends, at which all chips meet.
  void part(const std::string& what, bool begins);
  // A page walker of a chip's PCIe is in use in these cycles.
  void use_walker(unsigned chip, Cycle from, Cycle to);
  // A list of {"place", "unit", "most", "of" (null: unlimited), "part": the first part of the run
  // that had so many}, of all that held something.
  nlohmann::json json() const;
  // "Full at some time: hca0 requester: packet buffers 16 of 16; ...": what has room for a few.
  std::string line() const;

 private:
  struct Peak {
    std::string place, unit;
    u64 of = 0;  // 0: unlimited
    u64 most = 0;
    std::size_t part = 0;
  };
  struct Queue {  // a completion queue
    const Cq* cq;
    u32 written = 0;
    std::size_t peak;
  };
  struct Chip : HostMeter {
    BufferPeaks* peaks = nullptr;
    unsigned number = 0;
    engine::Domain* domain = nullptr;
    std::size_t first = 0;  // of the watched objects in peaks_
    OverlapPeak walkers;
    std::vector<std::size_t> pcie_peaks;  // by part; kNone
    std::map<u32, Queue> queues;          // by CQN
    std::map<u32, std::size_t> loops;     // by entry: the queue of an open loop
    // Of a port: the counter of its receive buffer.
    std::vector<std::pair<const u64*, std::size_t>> received;
    void wrote(Cycle at, u32 cqn, u64 cqes) override;
    void offers(const void* program, const Offer& offer) override;
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::size_t add(Peak peak);
  std::vector<std::size_t> order() const;
  void add_chip(unsigned chip);
  void note(std::size_t peak, u64 level);
  void keep_most(Chip& chip, bool kept);
  void pass_walkers(Chip& chip, Cycle until);
  Queue* queue_of(Chip& chip, u32 cqn);

  Testbed& testbed_;
  std::deque<Peak> peaks_;
  std::size_t known_ = 0;   // those of chips, known from the start
  std::deque<Chip> chips_;  // by node
  std::vector<std::string> parts_;
  bool recording_ = false;
};
}  // namespace hca::testbench
