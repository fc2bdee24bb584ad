// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/rtl_path.h"

#include <vector>

#include "testbench/lockstep/item_pins.h"
#include "testbench/lockstep/rtl_stand_in.h"

namespace hca::testbench {
namespace {
template <class Pins>
using Owned = std::unique_ptr<RtlStandIn<Pins>>;

// After its last answer, an item of a LookUpUnit starts in the next cycle.
template <class Item>
constexpr engine::Cycle behind_answer() {
  return 1 + Item::kLatency;
}
// The parser counts from the beat with a frame's 128th byte.
engine::Cycle parser_latency(u32 beat_bytes) {
  return blocks::RxParserConfig{}.latency + proto::kMaxHeaderBytes / beat_bytes - 1;
}
}  // namespace

struct RtlPath::Blocks {
  struct OfPort {
    Owned<PacketizerPins> packetizer;
    Owned<IcrcPins> icrc_out, icrc_in;
    Owned<RxParserPins> rx_parser;
    Owned<ResponderCheckPins> responder_check;
  };
  blocks::PerPort<OfPort> port;
  Owned<RequesterPsnPins> requester_psn;
  Owned<CompletionPins> completion;
};

RtlPath::RtlPath(RtlSet choice, const blocks::ChipConfig& config)
    : blocks_(std::make_unique<Blocks>()) {
  const u32 beat = config.icrc_unit.beat_bytes;
  const auto place = [&]<class Pins, class Item>(RtlBlock block, Owned<Pins>& owned,
                                                 blocks::StandIn<Item>*& at,
                                                 engine::Cycle latency) {
    if (!choice.has(block)) return;
    owned = std::make_unique<RtlStandIn<Pins>>(typename Pins::Rtl(beat), latency);
    at = owned.get();
  };
  for (unsigned i = 0; i < config.core.ports; ++i) {
    Blocks::OfPort& own = blocks_->port[i];
    blocks::PortStandIns& at = stand_ins_.port[i];
    place(RtlBlock::Packetizer, own.packetizer, at.packetizer,
          blocks::PacketizerUnitConfig{}.latency);
    place(RtlBlock::Icrc, own.icrc_out, at.icrc_out, blocks::IcrcUnitConfig{}.latency);
    place(RtlBlock::Icrc, own.icrc_in, at.icrc_in, blocks::IcrcUnitConfig{}.latency);
    place(RtlBlock::RxParser, own.rx_parser, at.rx_parser, parser_latency(beat));
    place(RtlBlock::ResponderCheck, own.responder_check, at.responder_check,
          behind_answer<blocks::ResponderCheckItem>());
  }
  place(RtlBlock::RequesterPsn, blocks_->requester_psn, stand_ins_.requester_psn,
        behind_answer<blocks::RequesterPsnItem>());
  place(RtlBlock::Completion, blocks_->completion, stand_ins_.completion,
        behind_answer<blocks::CompletionItem>());
}

RtlPath::~RtlPath() = default;
}  // namespace hca::testbench
