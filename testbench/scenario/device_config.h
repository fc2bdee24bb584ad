// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/knob.h"

namespace hca::attach {
// What programs that attach are told of an HCA and the model has no use for, and what connection
// management does.
struct DeviceConfig {
  u32 vendor_id = 0x02c0de, vendor_part_id = 1, hw_ver = 0;
  u32 cm_response_timeout = 20, cm_retries = 15;  // of rdma_cm
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
      knob("hw_ver", &Config::hw_ver, Unit::Count, 0, 0xffff'ffff, "of ibv_device_attr"),
      knob("cm_response_timeout", &Config::cm_response_timeout, Unit::Count, 0, 31,
           "rdma_cm: 4.096 us * 2^this until a message of connection management goes again"),
      knob("cm_retries", &Config::cm_retries, Unit::Count, 0, 15,
           "rdma_cm: so often it goes again"));
};
