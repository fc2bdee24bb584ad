// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/link_types.h"

#include <pcap/pcap.h>

#include <array>

#include "testbench/packets/pcap_format.h"

namespace hca::testbench {
namespace {

using proto::Layer;

constexpr int kErf = 197;
constexpr std::array kLinkTypeRows{
    LinkTypeRow{1, "Ethernet", Layer::Ethernet}, LinkTypeRow{0, "null", Layer::Loopback},
    LinkTypeRow{12, "raw IP", Layer::Ip},        LinkTypeRow{14, "raw IP", Layer::Ip},
    LinkTypeRow{101, "raw IP", Layer::Ip},       LinkTypeRow{108, "loop", Layer::Loopback},
    LinkTypeRow{113, "SLL", Layer::Sll},         LinkTypeRow{kErf, "ERF", Layer::Other},
    LinkTypeRow{228, "IPv4", Layer::Ip},         LinkTypeRow{229, "IPv6", Layer::Ip},
    LinkTypeRow{247, "InfiniBand", Layer::Lrh},  LinkTypeRow{276, "SLL2", Layer::Sll2},
};

struct ErfTypeRow {
  u8 type;
  Layer begins;
  u32 skipped;  // bytes between the header and the frame
};
constexpr std::array kErfTypes{
    ErfTypeRow{erf_format::kInfiniBand, Layer::Lrh, 0},
    ErfTypeRow{2, Layer::Ethernet, 2},
    ErfTypeRow{11, Layer::Ethernet, 2},
    ErfTypeRow{16, Layer::Ethernet, 2},
    ErfTypeRow{20, Layer::Ethernet, 2},
    ErfTypeRow{22, Layer::Ip, 0},
    ErfTypeRow{23, Layer::Ip, 0},
};

// Takes the ERF header off; a record of another kind leaves a note instead.
void strip_erf(CapturedFrame& frame) {
  std::size_t size = erf_format::kHeaderBytes;
  if (frame.bytes.size() < size) {
    frame.note = "ERF record shorter than its header";
    return;
  }
  const u8 kind = frame.bytes[erf_format::kTypeAt];
  for (u8 more = kind; more & erf_format::kMoreHeaders; more = frame.bytes[size], size += 8)
    if (frame.bytes.size() < size + 8) {
      frame.note = "ERF record shorter than its extension headers";
      return;
    }
  const u8 type = kind & u8(~erf_format::kMoreHeaders);
  const ErfTypeRow* row = nullptr;
  for (const ErfTypeRow& r : kErfTypes)
    if (r.type == type) row = &r;
  if (row == nullptr) {
    frame.note = "ERF record of type " + std::to_string(type);
    return;
  }
  frame.begins = row->begins;
  // The length on the wire is in the ERF header; padding may follow the frame.
  const u32 wire = u32(proto::load_be<2>(frame.bytes.data() + erf_format::kWireLengthAt));
  size = std::min(size + row->skipped, frame.bytes.size());
  frame.bytes.erase(frame.bytes.begin(), frame.bytes.begin() + std::ptrdiff_t(size));
  if (wire < frame.bytes.size()) frame.bytes.resize(wire);
  frame.bytes_on_wire = wire;
}

}  // namespace

const LinkTypeRow* link_type_row(int number) {
  for (const LinkTypeRow& row : kLinkTypeRows)
    if (row.number == number) return &row;
  return nullptr;
}

std::string unread_link_type(int number) {
  const char* const name = pcap_datalink_val_to_name(number);
  std::string text =
      "link type " +
      (name ? name + (" (" + std::to_string(number) + ")") : std::to_string(number)) +
      " is none of ";
  for (const LinkTypeRow& row : kLinkTypeRows)
    text += (&row == &kLinkTypeRows.front() ? "" : ", ") + std::string(row.name) + " (" +
            std::to_string(row.number) + ")";
  return text;
}

CapturedFrame frame_of(CaptureRecord record, const CaptureInterface& interface) {
  CapturedFrame frame;
  frame.time_ns = record.time_ns;
  frame.bytes = std::move(record.bytes);
  frame.bytes_on_wire = record.bytes_on_wire;
  frame.interface = interface.name;
  frame.fcs_bytes = interface.fcs_bytes;
  const LinkTypeRow* const row = link_type_row(interface.link_type);
  if (row == nullptr)
    frame.note = unread_link_type(interface.link_type);
  else if (row->number == kErf)
    strip_erf(frame);
  else
    frame.begins = row->begins;
  frame.link =
      frame.begins == Layer::Lrh ? proto::LinkLayer::InfiniBand : proto::LinkLayer::Ethernet;
  return frame;
}

}  // namespace hca::testbench
