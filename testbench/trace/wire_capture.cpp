// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/wire_capture.h"

#include "model/engine/rate.h"
#include "model/proto/wire/link_frames.h"

namespace hca::testbench {
namespace {

u64 picoseconds_of(const sc_core::sc_time& time) {
  return time.value() / sc_core::sc_time(1, sc_core::SC_PS).value();
}
}  // namespace

WireCapture::WireCapture(const std::string& path, const std::vector<NamedWire>& wires,
                         proto::LinkLayer link)
    : frames_([this](u64 at, u32 source, std::span<const u8> frame) {
        write(at / engine::kPicosecondsPerNanosecond, source, frame);
      }) {
  const LinkType type = link == proto::LinkLayer::Ethernet ? LinkType::Ethernet : LinkType::Erf;
  std::vector<std::string> names;
  for (const NamedWire& wire : wires) names.push_back(wire.name);
  if (wires.size() == 1)
    pcap_.emplace(path, type);
  else
    pcapng_.emplace(path, type, names);
  for (u32 i = 0; i < wires.size(); ++i)
    wires[i].wire->add_tap(
        [this, i, link](u8 sender, sc_core::sc_time at, const proto::FrameView& frame) {
          // A capture of InfiniBand has no link packets.
          if (link != proto::LinkLayer::Ethernet && proto::is_link_frame(frame.held(), link))
            return;
          frames_.add(picoseconds_of(at), i * tlm_::Wire::kEnds + sender, frame.held());
          frames_.hand_on_until(picoseconds_of(sc_core::sc_time_stamp()));
        });
}

void WireCapture::write(u64 time_ns, u32 source, std::span<const u8> frame) {
  if (pcap_)
    pcap_->write(time_ns, frame);
  else
    pcapng_->write(source / tlm_::Wire::kEnds, time_ns, frame);
}

void WireCapture::flush(bool idle) {
  frames_.hand_on_until(idle ? ~u64{0} : picoseconds_of(sc_core::sc_time_stamp()));
  pcap_ ? pcap_->flush() : pcapng_->flush();
}

void WireCapture::close() {
  frames_.hand_on_until(~u64{0});
  pcap_ ? pcap_->close() : pcapng_->close();
}
}  // namespace hca::testbench
