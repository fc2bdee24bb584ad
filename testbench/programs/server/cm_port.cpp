// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/cm_port.h"

namespace hca::attach {
namespace {
constexpr u32 kFirstIds = 0x0100'0000;  // communication IDs of an HCA begin at a multiple of it

cm::Place place_of(const proto::PortAttributes& port) {
  const auto framing = proto::Framing(port.framing);
  cm::Place place;
  if (proto::is_native(framing)) place.lid = port.lid;
  if (framing != proto::Framing::IbLocal) place.gid = port.gids[0].bytes;
  return place;
}
}  // namespace

CmPort::CmPort(testbench::Testbed& testbed, unsigned index, const proto::PortAttributes& port,
               const testbench::CompChannel& events, const cm::Settings& settings, u64 period)
    : node_(testbed.node(index)),
      port_(port),
      period_(period),
      place_(place_of(port)),
      agent_(settings,
             {.send = [this](const cm::Mad& mad, const cm::Place& to) { services_.send(mad, to); },
              .now = [this] { return node_.now() * period_; },
              .find_listener = [this](const cm::Mad& mad) { return host_.find_listener(mad); },
              .patience = [this] { return host_.patience(); }},
             kFirstIds * (index + 1)),
      services_(
          node_, port_, events,  // 0: nobody has it, and nobody takes what goes there.
          [this](const proto::Gid& gid) { return host_.mac_of(gid).value_or(0); },
          [this](const cm::Mad& mad, const cm::Place& from) { agent_.receive(mad, from); }) {}

// After the interrupt, as a kernel's work does.
void CmPort::completion_event(u32) {
  polls_at_ = std::min(polls_at_, node_.now() + node_.cpu.interrupt_cycles + node_.cpu.event);
}

void CmPort::act(engine::Cycle now) {
  if (polls_at_ <= now) polls_at_ = engine::kNever, services_.poll();
  if (agent_.due() <= now * period_) agent_.expire();
}
engine::Cycle CmPort::wakes_at() const {
  const u64 due = agent_.due();
  return due == cm::Agent::kNever ? polls_at_ : std::min(polls_at_, (due + period_ - 1) / period_);
}
}  // namespace hca::attach
