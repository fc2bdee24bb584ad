// SPDX-License-Identifier: Apache-2.0
// The C++ side of the lockstep: source, IcrcUnit and sink on a clock of their own, and what they
// did in each cycle.
#pragma once
#include <deque>
#include <memory>

#include "testbench/lockstep/icrc_stimulus.h"

namespace hca::testbench {
// Which cycles the receiver behind the unit lets pass: single ones and long stretches, a function
// of the cycle.
class Stalls {
 public:
  Stalls(u64 seed, u32 percent) : seed_(seed), percent_(percent) {}
  bool operator()(engine::Cycle at) const {
    return hash(at) % 100 < percent_ || hash(~(at >> 6)) % 200 < percent_;
  }

 private:
  u64 hash(u64 x) const {
    u64 state = seed_ ^ x * 0x2545f4914f6cdd1du;
    return engine::split_mix(state) >> 8;
  }
  u64 seed_;
  u32 percent_;
};

// A packet that left the twin: its bytes are in `packet->frame`.
struct TwinOutput {
  std::shared_ptr<IcrcPacket> packet;
  engine::Cycle first_beat = 0;
  u32 bytes = 0;
  bool icrc_ok = false, vcrc_ok = false;
  bool good() const { return icrc_ok && (vcrc_ok || !proto::is_native(packet->framing)); }
};

class IcrcTwin : engine::ProbeSink {
 public:
  IcrcTwin(u64 seed, const blocks::IcrcUnitConfig& config, u32 rooms, const Stalls& stalls);
  void run_cycle(engine::Cycle at) { domain_.run_until(at + 1); }

  // Of the cycle that has run, as it was at its begin.
  bool room_behind() const { return observer_.room_behind; }
  bool open() const { return observer_.open; }  // a packet may start, if there is room behind
  bool started() const { return unit_.packets() != observer_.packets_before; }

  // Packets on offer in front of the unit, the next cycle's among them; taken by the one who drives
  // the RTL's pins.
  struct Offer {
    std::shared_ptr<IcrcPacket> packet;
    engine::Cycle from;
  };
  std::deque<Offer> offers;
  std::deque<TwinOutput> outputs;  // taken by the comparison

 private:
  struct Observer : engine::Block {  // sees each cycle before the others act
    IcrcTwin* twin = nullptr;
    bool room_behind = false, open = false;
    u64 packets_before = 0;
    void tick();
  };
  struct Source : engine::Block {
    IcrcTwin* twin = nullptr;
    std::shared_ptr<IcrcPacket> next;
    engine::Cycle at = 0;
    void tick();
  };
  struct Sink : engine::Block {
    IcrcTwin* twin = nullptr;
    Stalls stalls;
    explicit Sink(const Stalls& s) : stalls(s) {}
    void tick();
  };
  void event(const engine::Event& event) override;

  IcrcStimulus stimulus_;
  engine::Domain domain_{engine::Domain::Options{}};
  blocks::IcrcUnit::PacketLink packets_in_{2, 1}, packets_out_;
  engine::ProbeHub probes_;
  Observer observer_;
  Source source_;
  Sink sink_;
  blocks::IcrcUnit unit_;
  std::deque<std::shared_ptr<IcrcPacket>> inside_;  // pushed, not yet left
};
}  // namespace hca::testbench
