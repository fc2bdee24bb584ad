// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/knob.h"

namespace hca::attach {
// Attributes of an HCA that attached programs see but the model does not use, and the settings of
// connection management.
struct DeviceConfig {
  u32 vendor_id = 0x02c0de, vendor_part_id = 1, hw_ver = 0;
  u32 cm_response_timeout = 20, cm_retries = 15;  // for rdma_cm
};
}  // namespace hca::attach

template <>
struct hca::engine::Knobs<hca::attach::DeviceConfig> {
  using Config = attach::DeviceConfig;
  static constexpr std::string_view block = "verbs";
  static constexpr std::string_view sentence = "attributes of both HCAs that attached programs see";
  static constexpr auto rows = make_rows(
      knob("vendor_id", &Config::vendor_id, Unit::Count, 0, 0xff'ffff, "field of ibv_device_attr"),
      knob("vendor_part_id", &Config::vendor_part_id, Unit::Count, 0, 0xffff'ffff,
           "field of ibv_device_attr; with 4129 perftest posts by ibv_wr_*"),
      knob("hw_ver", &Config::hw_ver, Unit::Count, 0, 0xffff'ffff, "field of ibv_device_attr"),
      knob("cm_response_timeout", &Config::cm_response_timeout, Unit::Count, 0, 31,
           "rdma_cm: 4.096 us * 2^this until a connection management message is repeated"),
      knob("cm_retries", &Config::cm_retries, Unit::Count, 0, 15,
           "rdma_cm: maximum repetitions of such a message"));
};
