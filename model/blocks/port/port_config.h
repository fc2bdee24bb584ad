// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
enum class RxForward : u8 { Store, CutThrough };
inline constexpr std::array<std::string_view, 2> kRxForwardNames{"store", "cut_through"};

struct PortConfig {
  Cycle latency = 10, interval = 1;  // MAC and PHY, for each direction
  u64 link_rate = 100'000'000'000;   // bits a second
  RxForward rx_forward = RxForward::CutThrough;
  bool loop_back = false;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::PortConfig> {
  using C = hca::blocks::PortConfig;
  static constexpr std::string_view block = "port";
  static constexpr std::string_view sentence = "link transmit and receive";
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("latency of MAC and PHY, in each direction",
                                 "between two packets"),
      make_rows(
          knob("link_rate", &C::link_rate, Unit::BitsPerSecond, 1'000'000'000, 800'000'000'000,
               "data rate of the link"),
          knob("rx_forward", &C::rx_forward, hca::blocks::kRxForwardNames,
               "write a payload to memory when its packet is known good, or while it arrives"),
          knob("loop_back", &C::loop_back,
               "a packet to its own port turns round inside the port; otherwise it enters the "
               "wire")));
};
