// SPDX-License-Identifier: Apache-2.0
// Common parts of the stimuli of all blocks.
#pragma once
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/engine/cycle.h"
#include "model/engine/random.h"
#include "model/proto/wire/packet.h"

namespace hca::testbench {
// The members that packets of all stimuli have.
enum class Start : u8 { BackToBack, AfterPause, Held };  // Held: there was no room after the block
inline constexpr std::array<std::string_view, 3> kStartNames{"back to back", "after a pause",
                                                             "held back"};
struct StreamPacket {
  u64 number = 0;
  engine::Cycle gap = 0;  // cycles without a packet on offer after the previous packet's last beat
  std::string what;       // for a person: how it was made
  std::size_t bytes_sent = 0;       // bytes that enter
  Start start = Start::BackToBack;  // how it entered
  bool alone = false;               // enters when the block is empty
};

// The framings, those with an Ethernet header with and without a VLAN tag.
struct StreamRow {
  proto::Framing framing;
  bool vlan;
  std::string name() const;
};
inline constexpr std::array kStreams{
    StreamRow{proto::Framing::IbLocal, false},   StreamRow{proto::Framing::IbGlobal, false},
    StreamRow{proto::Framing::RoceV1, false},    StreamRow{proto::Framing::RoceV1, true},
    StreamRow{proto::Framing::RoceV2Ip4, false}, StreamRow{proto::Framing::RoceV2Ip4, true},
    StreamRow{proto::Framing::RoceV2Ip6, false}, StreamRow{proto::Framing::RoceV2Ip6, true},
};

template <class List>
auto one_of(engine::Random& random, const List& list) {
  return list[random.below(std::size(list))];
}
std::vector<u8> random_bytes(engine::Random& random, std::size_t size);
// A header with any value in each field; reserved bits are 0.
template <class Header>
void randomize(Header& header, engine::Random& random) {
  proto::decode_to(random_bytes(random, proto::bytes_of<Header>()).data(), header);
}
void randomize(proto::ExtHeaders& ext, engine::Random& random);
proto::AddressVector random_address(engine::Random& random, proto::Framing framing, bool vlan);

// Numbers of queue pairs and queues. None is used twice, so a number inside the block never refers
// to another object.
class NewNumbers {
 public:
  bool take(u32 number) { return taken_.insert(number).second; }

 private:
  std::unordered_set<u32> taken_;
};

// Rotates through the variants of a name, `of` of them; it begins with a random one. The rotation
// continues after a reset, as one life has no time for all variants.
class Rotation {
 public:
  u32 next(std::string_view name, u32 of, engine::Random& random) {
    const auto [next, first] = next_.try_emplace({name, of}, 0);
    if (first) next->second = u32(random.below(of));
    return next->second++ % of;
  }

 private:
  std::map<std::pair<std::string_view, u32>, u32> next_;
};

// Changes the spacing of packets now and then: back to back or with gaps, short or long ones.
class Regime {
 public:
  // The gap before the next packet.
  engine::Cycle gap(engine::Random& random);
  u32 largest_payload() const { return largest_payload_; }

 private:
  void change(engine::Random& random);
  u64 packets_ = 0;
  u32 largest_payload_ = 0;
  u32 gap_percent_ = 0, largest_gap_ = 0;
};
}  // namespace hca::testbench
