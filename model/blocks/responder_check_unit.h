// SPDX-License-Identifier: Apache-2.0
// The rules of 9.6 and 9.7 on requests whose contexts and regions come late: what `responder_check`
// does to a request, as a block between links. The C++ twin of rtl/responder_check.sv.
//
// Contract
//   A request enters with its first beat when one of `slots` is free, which it keeps up to the
//   cycle in which it starts into the rule stages. Last beat in n: its context is asked for in
//   n + 1, the region of its R_Key, if it carries one, in the cycle behind its context's answer;
//   answers come in the order of the asks, one a cycle, in the cycle behind the ask or later. It
//   starts, in order, one a cycle, in the cycle behind its last answer or later, when there is
//   room for its verdict behind the unit, which leaves `latency` cycles after.
//   A frame that is nobody's request keeps its slot up to its last beat and leaves nothing.
//   A request sees what all in front of it did to its queue pair and SRQ (forward).
#pragma once
#include <deque>
#include <span>

#include "model/blocks/check_request.h"
#include "model/engine/domain.h"
#include "model/engine/link.h"
#include "model/engine/probe.h"
#include "model/engine/rate.h"

namespace hca::blocks {
// What became of a request, and of the context that it was judged by.
struct CheckedRequest {
  proto::RequestVerdict verdict{};
  proto::RequestEffect effect{};
  u8 syndrome = 0;  // of the answer; 0 where there is none
  bool below_limit = false;
  proto::ReceiveState state{};
  proto::SharedQueue shared{};
};

// A frame on its way through the unit, as an item of its links. All that it points to outlives it.
struct ResponderCheckItem {
  const proto::ParsedPacket* packet = nullptr;  // nullptr: it is nobody's request
  std::span<const u8> frame;
  const proto::QpConfig* qp = nullptr;
  const proto::Region* region = nullptr;  // that its R_Key names
  const proto::PortAttributes* port = nullptr;
  proto::ReceiveState* state = nullptr;
  proto::SharedQueue* shared = nullptr;  // of an SRQ, if it has one
  // Of its receive queue and of READs and ATOMICs when its context is looked up.
  u32 rq_posted = 0, reads_finished = 0;
  bool rq_failed = false;
  engine::Cycle context_late = 0, region_late = 0;  // cycles that the answers come later
  CheckedRequest* checked = nullptr;

  u32 key() const { return remote_key(*packet); }
  u32 bytes_out() const { return 0; }
  void process() const;
};

class ResponderCheckUnit : public engine::Block {
 public:
  struct Config {
    engine::Cycle latency = 7;   // cycles, start into the rule stages to verdict, at least 1
    engine::Cycle interval = 1;  // cycles, start to start, at least 1
    u32 beat_bytes = 64;         // bytes a cycle
    u32 slots = 8;
  };
  // Events of its probe. Leaves, falls: what entered, in its order; in the cycle of its verdict, or
  // in any. Asks: in the cycle of the ask, with QPN and R_Key.
  enum class Kind : u16 { Leaves, Falls, AsksContext, AsksRegion };
  static constexpr std::array<std::string_view, 4> kKinds{"leaves", "falls", "asks_context",
                                                          "asks_region"};
  static constexpr bool kHasRoom = true;  // takes a packet without room behind

  using PacketLink = engine::Link<ResponderCheckItem, 8>;
  struct Ports {
    PacketLink* packets_in = nullptr;
    PacketLink* packets_out = nullptr;  // its latency is part of the unit's
  };
  ResponderCheckUnit(const Config& config, const Ports& ports, engine::Probe probe = {});

  void tick();
  engine::Cycle beats(u32 bytes) { return bytes ? beats_.cycles_for(bytes) : 1; }
  bool open() const { return free_from_ <= now() && used(now()) < config_.slots; }
  u64 packets() const { return started_; }  // into the rule stages

 private:
  struct Waiting {
    ResponderCheckItem item;
    engine::Cycle ready = 0;  // both answers are here; not a request: its last beat has been
  };
  u32 used(engine::Cycle at) const;
  void start();
  void accept();

  Config config_;
  Ports ports_;
  engine::Meter beats_;
  engine::Probe probe_;
  std::deque<Waiting> waiting_;  // in their order
  engine::Cycle free_from_ = 0, starts_from_ = 0;
  engine::Cycle context_free_ = 0, region_free_ = 0;  // the next answer's first cycle
  u64 started_ = 0;
};
}  // namespace hca::blocks
