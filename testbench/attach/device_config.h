// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/knob.h"

namespace hca::attach {
// What programs that attach are told of an HCA and the model has no use for.
struct DeviceConfig {
  u32 vendor_id = 0x02c0de, vendor_part_id = 1, hw_ver = 0;
};
}  // namespace hca::attach

template <>
struct hca::engine::Knobs<hca::attach::DeviceConfig> {
  using Config = attach::DeviceConfig;
  static constexpr std::string_view block = "verbs";
  static constexpr std::string_view sentence = "what attached programs are told of both HCAs";
  static constexpr auto rows = make_rows(
      knob("vendor_id", &Config::vendor_id, Unit::Count, 0, 0xff'ffff, "of ibv_device_attr"),
      knob("vendor_part_id", &Config::vendor_part_id, Unit::Count, 0, 0xffff'ffff,
           "of ibv_device_attr; perftest posts by ibv_wr_* where it is 4129"),
      knob("hw_ver", &Config::hw_ver, Unit::Count, 0, 0xffff'ffff, "of ibv_device_attr"));
};
