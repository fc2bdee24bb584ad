// SPDX-License-Identifier: Apache-2.0
// Link types of the pcap registry that we read, and what a record of each begins with.
#pragma once
#include <string>

#include "testbench/packets/capture_records.h"
#include "testbench/packets/pcap_file.h"

namespace hca::testbench {

struct LinkTypeRow {
  int number;
  std::string_view name;
  proto::Layer begins;  // of ERF: as its record says
};
// nullptr: none that we read.
const LinkTypeRow* link_type_row(int number);
// "link type IEEE802_11 (105) is none of ...".
std::string unread_link_type(int number);

// What stands in a record, without the header of an ERF record.
CapturedFrame frame_of(CaptureRecord record, const CaptureInterface& interface);

}  // namespace hca::testbench
