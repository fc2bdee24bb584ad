// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/engine/random.h"
#include "model/proto/wire/frame_view.h"
#include "model/proto/wire/framing.h"

namespace hca::tlm_ {
enum class FaultAction : u8 { None, Drop, Duplicate, Reorder, Delay, Corrupt, MarkEcn };
inline constexpr std::array<std::string_view, 7> kFaultNames{
    "none", "drop", "duplicate", "reorder", "delay", "corrupt", "mark_ecn"};

// One line of a script. Frames match by direction, DestQP and PSN if these are given. Then either
// the n-th match gets the action, or each match with a probability.
struct FaultRule {
  FaultAction action = FaultAction::Drop;
  u8 direction = 0;  // the sending end: 0 or 1
  std::optional<u32> qpn, psn;
  u64 occurrence = 1;   // counts matches from 1; 0: use the probability
  u64 per_million = 0;  // probability
  u64 delay = 0;        // ps, of FaultAction::Delay
  u32 number = 0;       // its place in the original list
};

// An action and its frame: the report of a run, from which the run can be repeated.
struct FaultRecord {
  u64 picoseconds;
  FaultAction action;
  u8 direction;
  u32 qpn, psn;
  u64 occurrence;  // of this DestQP and PSN in this direction, from 1; 0: the frame has no BTH
  u64 delay;       // ps
};
std::string to_string(const FaultRecord& record);

// The number of frames that a rule matched, and of those that it acted on.
struct FaultUse {
  u32 number;
  u64 matches, done;
};

// Decides for each frame, in the order in which frames enter the wire. The same seed and frames
// give the same faults. Each rule has its own random numbers, so an additional rule changes nothing
// for the others.
class FaultScript {
 public:
  FaultScript() = default;
  FaultScript(std::vector<FaultRule> rules, proto::LinkLayer link, u64 seed);

  bool is_empty() const { return rules_.empty(); }
  // Adds a rule at the end while frames pass, with its own random numbers.
  void add(const FaultRule& rule);
  // Removes all rules; past actions stay in records().
  void clear();
  proto::LinkLayer link() const { return link_; }
  // Returns the first rule that fires; nullptr: none does. Frames without a BTH match only rules
  // without QPN and PSN.
  const FaultRule* decide(u8 direction, const proto::FrameView& frame, u64 picoseconds);
  const std::vector<FaultRecord>& records() const { return records_; }
  std::vector<FaultRecord> take_records() { return std::exchange(records_, {}); }
  std::vector<FaultUse> uses() const;

 private:
  struct State {
    FaultRule rule;
    engine::Random random;
    u64 matches = 0, done = 0;
  };
  static bool fires(State& state);
  static u64 key_of(u8 direction, u32 qpn, u32 psn) {
    return u64{direction} << 48 | u64{qpn} << 24 | psn;
  }
  std::vector<State> rules_;
  // Rules with QPN and PSN are indexed by them, because a script may have very many; the others are
  // checked one by one. Values are indices into rules_.
  std::unordered_multimap<u64, u32> exact_;
  std::vector<u32> wide_;
  std::unordered_map<u64, u64> seen_;  // frames by direction, QPN and PSN
  proto::LinkLayer link_ = proto::LinkLayer::Ethernet;
  u64 seed_ = 0, added_ = 0;
  std::vector<FaultRecord> records_;
};

// A copy of a frame that a fault may change, and delay.
class FrameCopy {
 public:
  FrameCopy() = default;
  explicit FrameCopy(const proto::FrameView& frame)
      : held_(frame.held().begin(), frame.held().end()),
        bytes_(frame.size()),
        crcs_(frame.crcs()) {}
  bool empty() const { return held_.empty(); }
  proto::FrameView frame() const { return proto::FrameView::cut(held_, bytes_, crcs_); }
  // Flips one bit that the ICRC covers, or of the ICRC itself; in a frame without a BTH, any bit.
  // Does nothing to an empty frame. Of a frame that is cut the bit may lie in what it does not
  // hold.
  void corrupt(proto::LinkLayer link, engine::Random& random);
  // Marks Congestion Experienced: the ECN bits of IPv4 (with its checksum) or IPv6; in native
  // frames FECN of the BTH. Returns false, and changes nothing, if the frame has neither.
  bool mark_congestion(proto::LinkLayer link);

 private:
  std::vector<u8> held_;
  u32 bytes_ = 0;
  proto::FrameCrcs crcs_;
};
}  // namespace hca::tlm_
