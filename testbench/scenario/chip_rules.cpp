// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/chip_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/proto/wire/packet.h"
#include "testbench/scenario/link_defaults.h"
#include "testbench/scenario/traffic_of.h"

namespace hca::testbench {
namespace {
// The core's bytes a cycle must suffice for each link.
void check_core(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  for (std::size_t i = 0; i < s.nodes.size(); ++i)
    for (unsigned port = 0; port < s.nodes[i].hca.core.ports; ++port) {
      const blocks::ChipConfig& c = s.nodes[i].hca;
      const u64 rate = blocks::core_rate(c.icrc_unit, c.core.hertz()),
                link = c.port[port].link_rate;
      if (c.core.allow_slow_core || !blocks::is_slow(c.icrc_unit, link, c.core.hertz())) continue;
      mistakes.push_back(
          {{".link_rate", ".core.clock", ".icrc_unit.beat_bytes", ".allow_slow_core"},
           fmt::format("{} B in each cycle of {:g} MHz are {:g} Gb/s, less than the {:g} Gb/s of "
                       "a link of hca{}; allowed: a larger hca.icrc_unit.beat_bytes or "
                       "hca.core.clock, or hca.core.allow_slow_core: true",
                       c.icrc_unit.beat_bytes, double(c.core.hertz()) * 1e-6, double(rate) * 1e-9,
                       double(link) * 1e-9, i)});
      return;
    }
}
void check_rate_limit(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  if (s.connection.rate_limit && s.connection.service() == proto::Service::Ud)
    mistakes.push_back(
        {{"connection.rate_limit"},
         fmt::format("is set with {}, whose datagrams have a path each; allowed: 0 b/s", "ud")});
}
// Without a period a program may sleep for completions that are too few for an event; and programs
// that poll have no events.
void check_moderation(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  const ConnectionConfig& c = s.connection;
  if (!c.is_moderated()) return;
  if (!s.waits_for_events())
    mistakes.push_back(
        {{"connection.moderation_count", "connection.moderation_period"},
         "is set where all programs poll; allowed: 0, or host.wait or workload[].wait event"});
  if (c.moderation_count > 1 && !c.moderation_period)
    mistakes.push_back(
        {{"connection.moderation_count"},
         "is above 1 without a period: fewer completions would never raise an event; "
         "allowed: connection.moderation_period beside it"});
}
void check_measure(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  if (s.measure.to && s.measure.to <= s.measure.from)
    mistakes.push_back({{"measure.to", "measure.from"},
                        "leaves nothing between from and to; allowed: to above from, or 0 ps"});
}
// An alternate path needs both chips, and a port that the workloads do not use themselves.
void check_alternate(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  const u32 port = s.connection.alternate_port;
  if (!port) return;
  const auto refuse = [&](std::string_view what) {
    mistakes.push_back(
        {{"connection.alternate_port"}, fmt::format("is {} {}; allowed: 0", port, what)});
  };
  if (s.connection.service() == proto::Service::Ud) return refuse("with ud, which has no path");
  if (s.connection.service() == proto::Service::Rd)
    return refuse("with rd, whose EE contexts do not migrate");
  if (s.connection.srq || s.connection.is_xrc())
    return refuse("with an SRQ, whose queue pairs stay at its port");
  for (const NodeConfig& node : s.nodes) {
    const auto& options = node.hca.transport;
    if (!options.apm) return refuse("without hca.transport.apm: true of each chip");
    if (options.recovery != proto::Recovery::GoBackN)
      return refuse("with selective_repeat, which keeps packets at their port");
    if (port > node.hca.core.ports) return refuse("which is no port of each chip");
  }
  for (const WorkloadConfig& w : s.workload)
    for (const NodePort& end : w.ends())
      if (end.port + 1 == port) return refuse("which is the port of a workload");
}
void check_srqs(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  const ConnectionConfig& c = s.connection;
  if (c.xrc_srqs > 1 && !c.is_xrc())
    mistakes.push_back({{"connection.xrc_srqs"}, "is set without service xrc; allowed: 1"});
  if (c.srq && c.is_xrc())
    mistakes.push_back({{"connection.srq"},
                        "is set with service xrc, which has connection.xrc_srqs; allowed: false"});
  if (c.srq && c.service() == proto::Service::Rd)
    mistakes.push_back(
        {{"connection.srq"}, "is set with service rd, which has none; allowed: false"});
}
// The longest frame of a connection: a full payload with all headers that an opcode of its service
// has, and its CRCs.
u32 longest_frame(const ConnectionConfig& c) {
  const proto::Path path = proto::make_path({.framing = c.framing});
  const u32 mtu = bytes_of_mtu(c.path_mtu);
  u32 longest = 0;
  for (const proto::OpcodeRow& row : proto::kOpcodeRows)
    if (row.service == c.service() && proto::payload_length_ok(row.payload, mtu, mtu))
      longest = std::max(longest, proto::frame_bytes(path, row, mtu));
  return longest;
}
// A receive buffer that drops full packets is none.
void check_buffer(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  const u32 longest = longest_frame(s.connection);
  for (const NodeConfig& node : s.nodes) {
    const blocks::LinkControlConfig& c = node.hca.link_control;
    if (!c.any() || c.buffer + c.shared >= longest) continue;
    mistakes.push_back(
        {{".link_control.buffer", ".link_control.shared", "connection.path_mtu",
          "connection.framing", "connection.service"},
         fmt::format("{} B, with the shared buffer, are less than the {} B of a packet of "
                     "connection.path_mtu with its headers; allowed: at least that, or "
                     "link_control.mode endless",
                     c.buffer + c.shared, longest)});
    return;
  }
}
// XOFF must come in time: a long cable needs a large buffer, or levels of its own.
void check_headroom(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  for (unsigned i = 0; i < s.nodes.size(); ++i) {
    const blocks::LinkControlConfig c = link_control_of(s, i);
    if (!c.stops() || c.xoff) continue;
    mistakes.push_back(
        {{".link_control.buffer", ".link_control.mode", ".link_control.xoff", "wire.latency",
          "wire.metres", "wire.metre_latency", "wire.fec", "wire.fec_latency", "wire1.latency",
          "wire1.metres", "wire2.latency", "wire2.metres", ".link_rate", ".core.clock",
          "port.latency", "icrc_unit.latency"},
         fmt::format("hca{} has {} B of receive buffer for each lane (link_control.buffer), too "
                     "little for {}: the headroom of its cable and two packets are {} B; allowed: "
                     "a hca.link_control.buffer of at least that, mode lossy, or mode endless",
                     i, c.buffer, blocks::kFlowControlNames[std::size_t(c.mode)],
                     least_buffer(s, i))});
    return;
  }
}
// A mistake of one link, for settings that both ends share.
using LinkMistake = std::optional<ChipMistake>;
LinkMistake mode_mistake(const Scenario& s, const Ends& ends) {
  using blocks::FlowControl;
  const FlowControl mode = link_control_of(s, ends[0].node).mode,
                    other = link_control_of(s, ends[1].node).mode;
  const bool native = proto::is_native(s.connection.framing),
             controls = mode != FlowControl::Endless && mode != FlowControl::Lossy;
  if (mode != other)
    return ChipMistake{
        {".link_control.mode"},
        fmt::format("{} is another one than that of the other end, {}; allowed: the same",
                    blocks::kFlowControlNames[std::size_t(mode)],
                    blocks::kFlowControlNames[std::size_t(other)])};
  if (controls && native != (mode == FlowControl::Credits))
    return ChipMistake{
        {".link_control.mode"},
        fmt::format("{} does not go with connection.framing; allowed: credits with ib_local and "
                    "ib_global, pause and pfc with the others",
                    blocks::kFlowControlNames[std::size_t(mode)])};
  return std::nullopt;
}
LinkMistake lanes_mistake(const Scenario& s, const Ends& ends) {
  const blocks::LinkControlConfig own = link_control_of(s, ends[0].node),
                                  other = link_control_of(s, ends[1].node);
  if (own.mode != blocks::FlowControl::Credits || own.lanes == other.lanes) return std::nullopt;
  return ChipMistake{{".link_control.lanes"},
                     fmt::format("{} of hca{} and {} of hca{} are the lanes of one link; allowed: "
                                 "as many at both ends",
                                 own.lanes, ends[0].node, other.lanes, ends[1].node)};
}
LinkMistake rate_mistake(const Scenario& s, const Ends& ends) {
  const auto rate_at = [&](const NodePort& at) {
    return s.nodes[at.node].hca.port[at.port].link_rate;
  };
  const u64 rate = rate_at(ends[0]), far = rate_at(ends[1]);
  if (rate == far) return std::nullopt;
  return ChipMistake{
      {".link_rate"},
      fmt::format("{:g} Gb/s of hca{} and {:g} Gb/s of hca{} are the rates of one link; allowed: "
                  "the same at both ends",
                  double(rate) * 1e-9, ends[0].node, double(far) * 1e-9, ends[1].node)};
}
// Each mistake once, of the first cable that has it.
void check_links(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  const std::vector<Cable> cables = s.laid_cables();
  for (const auto mistake_of : {mode_mistake, lanes_mistake, rate_mistake})
    for (const Cable& cable : cables)
      if (LinkMistake mistake = mistake_of(s, cable.ends)) {
        mistakes.push_back(std::move(*mistake));
        break;
      }
}
// An optional operation is one of both chips, or it is refused.
void check_capability(const Scenario& s, Operation operation, std::vector<ChipMistake>& mistakes) {
  for (const proto::CapabilityRow& row : proto::kCapabilities)
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
      if (row_of(operation).work().capability != row.capability) continue;
      if (s.nodes[i].hca.transport.*row.has) continue;
      mistakes.push_back({{".operation", row.option},
                          fmt::format("{} is an operation that hca{} does not have; allowed: with "
                                      "hca.transport.{}: true",
                                      row_of(operation).word, i, row.option)});
      return;
    }
}
// The same holds for a service.
void check_service(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  const proto::Capability needed = proto::capability_of(s.connection.service());
  for (const proto::CapabilityRow& row : proto::kCapabilities)
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
      if (needed != row.capability || s.nodes[i].hca.transport.*row.has) continue;
      mistakes.push_back(
          {{"connection.service", row.option},
           fmt::format("{} is a service that hca{} does not have; allowed: with "
                       "hca.transport.{}: true",
                       kServiceWords[std::size_t(s.connection.service_choice)], i, row.option)});
      return;
    }
}
void check_operations(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  for (const WorkloadConfig& w : s.workload) {
    if (!w.is_mixed()) check_capability(s, w.operation, mistakes);
    for (const auto& [operation, weight] : w.weights()) check_capability(s, operation, mistakes);
  }
}
// Context caches do not know EE contexts.
void check_ee_contexts(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  for (const NodeConfig& node : s.nodes) {
    const blocks::ChipConfig& c = node.hca;
    if (c.transport.rd && c.caches.qp.entries)
      return mistakes.push_back(
          {{".transport.rd", ".qp_cache.entries"},
           "RD needs all contexts on chip; allowed: hca.qp_cache.entries 0 with it"});
  }
}
// What reads all bytes of a packet.
void check_payload(const Scenario& s, std::vector<ChipMistake>& mistakes) {
  if (s.run.payload == blocks::Payload::Carried) return;
  if (s.run.pcap)
    mistakes.push_back({{"run.pcap", "run.payload"},
                        "a capture has all bytes of each frame, which run.payload: timed does not "
                        "move; allowed: run.payload: carried, or run.pcap: false"});
  if (s.rtl.any())
    mistakes.push_back({{"run.payload"},
                        "timed is set with rtl, whose blocks take all bytes of each frame; "
                        "allowed: carried, or no rtl"});
}
}  // namespace

std::vector<ChipMistake> chip_mistakes(const Scenario& scenario) {
  std::vector<ChipMistake> mistakes;
  check_core(scenario, mistakes);
  check_rate_limit(scenario, mistakes);
  check_measure(scenario, mistakes);
  check_moderation(scenario, mistakes);
  check_alternate(scenario, mistakes);
  check_buffer(scenario, mistakes);
  check_headroom(scenario, mistakes);
  check_links(scenario, mistakes);
  check_srqs(scenario, mistakes);
  check_service(scenario, mistakes);
  check_operations(scenario, mistakes);
  check_ee_contexts(scenario, mistakes);
  check_payload(scenario, mistakes);
  return mistakes;
}
}  // namespace hca::testbench
