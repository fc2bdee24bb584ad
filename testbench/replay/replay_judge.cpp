// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "testbench/replay/replay_judge_packets.h"

namespace hca::testbench {
using namespace proto;

namespace {
std::string describe(const Flow& flow, const Flow* mate) {
  const std::string_view service = name_of(flow.service);
  const std::string anew =
      flow.incarnation
          ? fmt::format(", queue pairs made anew, from frame {} on",
                        std::min(flow.packets.front()->number,
                                 mate ? mate->packets.front()->number : ~std::size_t{0}))
          : "";
  if (flow.service == Service::Ud)
    return fmt::format("{} datagrams of {} QP {:#x}{}", flow.packets.size(), text_of(flow.from),
                       flow.source_qp, anew);
  const JudgedPacket& first = *flow.packets.front();
  const std::string_view what = flow.service == Service::Rd ? "EE context" : "QP";
  if (!mate)
    return fmt::format("{} {} > {} {} {:#x}, {} packets, path MTU {}, P_Key {:#x}, {}{}", service,
                       text_of(flow.from), text_of(flow.to), what, flow.qpn, flow.packets.size(),
                       flow.mtu, first.p.bth.pkey, framing_row(first.p.framing).name, anew);
  return fmt::format(
      "{} {} {} {:#x} <> {} {} {:#x}, {} and {} packets, path MTU {}, P_Key {:#x}, {}{}{}", service,
      text_of(flow.from), what, mate->qpn, text_of(flow.to), what, flow.qpn, flow.packets.size(),
      mate->packets.size(), flow.mtu, first.p.bth.pkey, framing_row(first.p.framing).name,
      flow.cm ? ", connected by the CM" : "", anew);
}

void judge_flow(const std::vector<Flow>& flows, const Flow& flow, Verdicts& verdicts) {
  const Flow* mate = flow.mate ? &flows[*flow.mate] : nullptr;
  judge_pkeys(flow, verdicts);
  switch (flow.service) {
    case Service::Rc:
    case Service::Xrc:
    case Service::Rd:
      return judge_reliable(flow, mate, verdicts);
    case Service::Uc:
      return judge_unreliable(flow, verdicts);
    case Service::Ud:
      return judge_datagrams(flow, verdicts);
    case Service::Cnp:
      return;
    default:
      verdicts.not_judged(
          fmt::format("packets of {} beyond structure and ICRC", name_of(flow.service)),
          flow.packets.size());
  }
}
}  // namespace

Judgement judge(const std::vector<GivenPacket>& given, const JudgeOptions& options) {
  Judgement out;
  Verdicts verdicts(options, out);
  const std::vector<JudgedPacket> packets = take_apart(given, out, verdicts);
  for (const JudgedPacket& p : packets) judge_packet(p, verdicts);
  const std::vector<Flow> flows = find_flows(packets, options.complete);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const Flow& flow = flows[i];
    const Flow* mate = flow.mate ? &flows[*flow.mate] : nullptr;
    if (flow.service != Service::Cnp && (!mate || *flow.mate > i))
      out.conversations.push_back(describe(flow, mate));
    judge_flow(flows, flow, verdicts);
  }
  std::ranges::stable_sort(out.breaches, {}, &Breach::frame);
  return out;
}
}  // namespace hca::testbench
