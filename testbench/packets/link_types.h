// SPDX-License-Identifier: Apache-2.0
// The supported link types of the pcap registry, and the first header of a record of each.
#pragma once
#include <string>

#include "testbench/packets/capture_records.h"
#include "testbench/packets/pcap_file.h"

namespace hca::testbench {

struct LinkTypeRow {
  int number;
  std::string_view name;
  proto::Layer begins;  // for ERF: given by its record
};
// nullptr: not supported.
const LinkTypeRow* link_type_row(int number);
// "link type IEEE802_11 (105) is none of ...".
std::string unread_link_type(int number);

// The frame of a record, without the header of an ERF record.
CapturedFrame frame_of(CaptureRecord record, const CaptureInterface& interface);

}  // namespace hca::testbench
