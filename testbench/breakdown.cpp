// SPDX-License-Identifier: Apache-2.0
#include "testbench/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "model/proto/packet.h"

namespace hca::testbench {
using blocks::Step;
using engine::Event;

u64 Breakdown::sum() const {
  u64 cycles = 0;
  for (const TimePart& part : parts) cycles += part.cycles;
  return cycles;
}

BreakdownRecorder::BreakdownRecorder(Testbed& testbed, std::size_t lane)
    : testbed_(testbed), lane_(lane) {
  for (unsigned i = 0; i < kChips; ++i) testbed.node(i).hca.probes().attach(sinks_[i]);
  testbed.wire(port()).add_tap([this](u8 sender, sc_core::sc_time at, std::span<const u8> bytes) {
    frame(sender, at.value(), bytes);
  });
}

BreakdownRecorder::~BreakdownRecorder() {
  for (unsigned i = 0; i < kChips; ++i) testbed_.node(i).hca.probes().detach(sinks_[i]);
  testbed_.wire(port()).remove_tap();
}

void BreakdownRecorder::frame(u8 sender, u64 picoseconds, std::span<const u8> bytes) {
  proto::ParsedPacket packet;
  const proto::LinkLayer link = testbed_.link();
  if (proto::parse(bytes, link, packet) == proto::PacketVerdict::Good)
    frames_.push_back({sender, picoseconds, packet.bth.psn, !packet.opcode->is_request});
}

// Looks up stamps in the recorded events and strings them together.
struct BreakdownRecorder::Find {
  const BreakdownRecorder& recorder;
  std::vector<Stamp> stamps{};

  u64 time_of(unsigned chip, Cycle at) const {
    return at * recorder.testbed_.node(chip).hca.period().value();
  }
  // The first event of a block that `fits`.
  template <class Fits>
  const Event& event(unsigned chip, std::string_view block, u16 kind, std::string_view name,
                     Fits&& fits) const {
    const engine::ProbeHub& hub = recorder.testbed_.node(chip).hca.probes();
    for (const Event& e : recorder.sinks_[chip].events)
      if (e.kind == kind && hub.name(e.block) == block && fits(e)) return e;
    throw std::runtime_error(fmt::format("no stamp \"{}\" on chip {}", name, chip));
  }
  template <class Kind, class Fits>
  void add(unsigned chip, std::string_view block, Kind kind, std::string name, Fits&& fits) {
    const Event& e = event(chip, block, u16(kind), name, fits);
    stamps.push_back({std::move(name), time_of(chip, e.at)});
  }
  void add_wire(u8 sender, u32 psn, bool response, std::string name) {
    for (const Frame& f : recorder.frames_)
      if (f.sender == sender && f.psn == psn && f.response == response)
        return stamps.push_back({std::move(name), f.picoseconds});
    throw std::runtime_error(fmt::format("no stamp \"{}\"", name));
  }
  // The port does not know a packet's numbers yet: its arrival is the last one before its check.
  const Event& arrival(unsigned chip, const Event& checked) const {
    const engine::ProbeHub& hub = recorder.testbed_.node(chip).hca.probes();
    const std::string port = recorder.own("port");
    for (const Event* e = &checked; e-- != recorder.sinks_[chip].events.data();)
      if (e->kind == u16(Step::Arrived) && hub.name(e->block) == port) return *e;
    throw std::runtime_error("no arrival at the port");
  }
  // A packet through icrc_unit and port of `sender` over the wire to the far port and icrc_unit.
  void add_link(unsigned sender, u32 psn, bool response, const std::string& what) {
    const unsigned receiver = 1 - sender;
    const u32 from = recorder.end(sender).qp->qpn, to = recorder.end(receiver).qp->qpn;
    const auto sent = [&](const Event& e) { return e.a == from && e.b == psn; };
    add(sender, recorder.own("icrc_unit"), Step::Passed, what + "icrc_unit, inserted", sent);
    add(sender, recorder.own("port"), Step::Passed, what + "port, transmit", sent);
    add_wire(u8(sender), psn, response, what + "wire");
    const auto received = [&](const Event& e) { return e.a == to && e.b == psn; };
    const Event& checked = event(receiver, recorder.own("icrc_unit"), u16(Step::Received),
                                 what + "icrc_unit, checked", received);
    stamps.push_back({what + "port, receive", time_of(receiver, arrival(receiver, checked).at)});
    stamps.push_back({what + "icrc_unit, checked", time_of(receiver, checked.at)});
  }
};

// Of the last event of a kind.
u32 BreakdownRecorder::last_psn(unsigned chip, std::string_view block, Step kind) const {
  std::optional<u32> psn;
  for (const Event& e : sinks_[chip].events)
    if (testbed_.node(chip).hca.probes().name(e.block) == block && e.kind == u16(kind))
      psn = u32(e.b);
  if (!psn) throw std::runtime_error(fmt::format("chip {}: no packet passed {}", chip, block));
  return *psn;
}

std::vector<TimePart> BreakdownRecorder::parts(const OperationRow& operation) const {
  constexpr unsigned client = 0, server = 1;
  const u32 qpn = end(client).qp->qpn, peer = end(server).qp->qpn;
  Find find{*this};
  const auto any = [](const Event&) { return true; };
  const auto on_qp = [&](const Event& e) { return e.a == qpn; };
  const u32 psn = last_psn(client, "requester", Step::Passed);
  // Of a READ or ATOMIC the answer has data, and a PSN of its own.
  const u32 answer =
      operation.fetches() ? last_psn(server, "responder_execute", Step::Completed) : psn;
  const auto is_last = [&](const Event& e) { return e.a == qpn && e.b == psn; };
  const auto at_peer = [&](const Event& e) { return e.a == peer && e.b == psn; };
  const auto is_answer = [&](const Event& e) { return e.a == qpn && e.b == answer; };
  const auto answer_at_peer = [&](const Event& e) { return e.a == peer && e.b == answer; };

  find.add(client, "host", HostStep::Rung, "start", any);
  find.add(client, "host", HostStep::AtBar, "PCIe, doorbell", any);
  find.add(client, "doorbell", Step::Passed, "doorbell", on_qp);
  find.add(client, "qp_scheduler", Step::Passed, "qp_scheduler", on_qp);
  find.add(client, "wqe_fetch", Step::Passed, "wqe_fetch", on_qp);
  find.add(client, "requester", Step::Passed, "requester", is_last);
  find.add(client, "packetizer", Step::Passed, "packetizer", is_last);
  find.add_link(client, psn, false, "");
  find.add(server, own("responder_check"), Step::Passed, "responder_check", at_peer);
  find.add(server, "responder_execute", Step::Passed, "responder_execute", at_peer);
  if (operation.fetches())
    find.add(server, "responder_execute", Step::Completed, "responder_execute, data",
             answer_at_peer);
  find.add(server, "responder_reply", Step::Passed, "responder_reply", answer_at_peer);
  find.add_link(server, answer, true, "answer: ");
  find.add(client, own("response_check"), Step::Passed, "response_check", is_answer);
  find.add(client, "requester", Step::Completed, "requester, completion", on_qp);
  find.add(client, "completion", Step::Passed, "completion", on_qp);
  find.add(client, "host", HostStep::CqeWritten, "PCIe, CQE", any);
  const u64 written = find.stamps.back().picoseconds;
  find.add(client, "host", HostStep::Looked, "host, notice",
           [&](const Event& e) { return find.time_of(client, e.at) > written; });

  // Requests are judged by their headers while the payload still comes: in the order of time.
  std::stable_sort(find.stamps.begin(), find.stamps.end(),
                   [](const Stamp& a, const Stamp& b) { return a.picoseconds < b.picoseconds; });
  std::vector<TimePart> parts;
  const u64 period = testbed_.node(client).hca.period().value();
  for (std::size_t i = 1; i < find.stamps.size(); ++i)
    parts.push_back({find.stamps[i].name, find.stamps[i].picoseconds / period -
                                              find.stamps[i - 1].picoseconds / period});
  return parts;
}
}  // namespace hca::testbench
