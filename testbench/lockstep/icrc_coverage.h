// SPDX-License-Identifier: Apache-2.0
// What the packets that have passed rtl/icrc.sv have tried: bins counted, and named where none
// came.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "testbench/lockstep/icrc_stimulus.h"

namespace hca::testbench {
class IcrcCoverage {
 public:
  explicit IcrcCoverage(u32 beat_bytes = 64);
  // A packet that has left, and the verdict on it.
  void count(const IcrcPacket& p, bool icrc_ok, bool vcrc_ok);

  // All combinations of what a group crosses but those that cannot be: no VCRC is bad behind an
  // Ethernet header.
  struct Group {
    std::string_view crosses;
    u64 bins = 0, hit = 0;
  };
  std::vector<Group> groups() const;
  std::vector<std::string> holes() const;  // the names of bins without a packet
  std::string text() const;                // a line for each group and for the first holes

 private:
  struct Bin {
    u8 group = 0;
    std::string name;
    u64 packets = 0;
  };
  void hit(u64 index) { ++bins_[index].packets; }

  u32 beat_bytes_;
  std::vector<Bin> bins_;
  u64 sizes_from_ = 0, specials_from_ = 0;  // where the second and the third group begin
};
}  // namespace hca::testbench
