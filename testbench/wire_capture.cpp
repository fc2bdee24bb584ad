// SPDX-License-Identifier: Apache-2.0
#include "testbench/wire_capture.h"

namespace hca::testbench {
namespace {
constexpr u64 kPicosecondsPerNanosecond = 1000;

u64 picoseconds_of(const sc_core::sc_time& time) {
  return time.value() / sc_core::sc_time(1, sc_core::SC_PS).value();
}
}  // namespace

WireCapture::WireCapture(const std::string& path, tlm_::Wire& wire, proto::LinkLayer link)
    : writer_(path, link == proto::LinkLayer::Ethernet ? LinkType::Ethernet : LinkType::Erf),
      frames_([this](u64 at, std::span<const u8> frame) {
        writer_.write(at / kPicosecondsPerNanosecond, frame);
      }) {
  wire.add_tap([this](u8 sender, sc_core::sc_time at, std::span<const u8> frame) {
    frames_.add(picoseconds_of(at), sender, frame);
    frames_.hand_on_until(picoseconds_of(sc_core::sc_time_stamp()));
  });
}

void WireCapture::close() {
  frames_.hand_on_until(~u64{0});
  writer_.close();
}
}  // namespace hca::testbench
