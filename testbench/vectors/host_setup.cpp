// SPDX-License-Identifier: Apache-2.0
// Makes what a set-up plans.
#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "model/proto/transport/qp_transitions.h"
#include "testbench/vectors/host.h"
#include "testbench/vectors/queue_attributes.h"

namespace hca::testbench {
using namespace proto;

namespace {
const nlohmann::json kNothing = nlohmann::json::object();
// For an error: the place of an object, even if no set-up names it.
JsonAt place_of(const char* kind, const std::string& name) {
  return JsonAt(kNothing, fmt::format("setup.{}.{}", kind, name));
}
// Numbers of objects are known before they are made.
void must_be(u32 number, u32 planned, const std::string& name) {
  if (number != planned)
    throw std::logic_error(fmt::format("{}: number {}, planned {}", name, number, planned));
}
}  // namespace

VectorHost::VectorHost(const JsonAt& setup, ReplayDevice& device)
    : device_(device),
      verbs_(device.memory(),
             [&device](u32 offset, std::span<const u8> data) { device.mmio_write(offset, data); }),
      plan_(setup),
      contents_(device.memory()) {
  verbs_.set_step([this] {
    device_.run();
    return false;
  });
  block_ = verbs_.alloc(kCommandBytes, kCommandBytes);
  for (u32 number = 1; number <= plan_.ports; ++number)
    if (verbs_.set_port(plan_.port, number) != Error::None)
      throw std::runtime_error(
          fmt::format("setup: port {} is refused: {}", number, name_of(verbs_.last_status())));
  async_ = verbs_.open_async_events();
  device.memory().watch(async_->address, u64{async_->entries()} * kEqeBytes,
                        [this](u64, u64) { see_events(); });
  channel_ = verbs_.create_comp_channel();
  make_pds();
  make_xrc_domains();
  make_cqs();
  make_keys();
  make_srqs();
  make_ee_contexts();
  for (const auto& [name, planned] : plan_.qps) make_qp(name, planned);
}

// The verbs number PDs, CQs and SRQs in the order in which they are made.
void VectorHost::make_pds() {
  for (std::size_t i = 1; i <= plan_.pds.size(); ++i) {
    const Pd* const pd = verbs_.alloc_pd();
    if (!pd) place_of("pds", std::to_string(i)).refuse("the device gives no PD", "fewer PDs");
    must_be(pd->number, u32(i), "PD");
  }
}

void VectorHost::make_xrc_domains() {
  for (const auto& [name, domain] : plan_.xrc_domains)
    if (const auto made = verbs_.alloc_xrcd(domain.pd); made != domain.number)
      place_of("xrc_domains", name)
          .refuse("the device gives no XRC domain", "setup.options.xrc: true");
}

void VectorHost::make_cqs() {
  const auto make = [&](const std::string& name, const PlannedCq& planned) {
    // The verbs double the size, because they report consumed CQEs only now and then.
    Cq* const cq = verbs_.create_cq(planned.entries / 2, planned.has_events ? channel_ : nullptr);
    if (!cq) place_of("cqs", name).refuse("the device gives no CQ", "fewer or smaller CQs");
    must_be(cq->cqn, planned.number, name);
    cqs_[name] = cq;
  };
  make("cq", plan_.cqs.at("cq"));
  for (const auto& [name, planned] : plan_.cqs)
    if (name != "cq") make(name, planned);
}

void VectorHost::make_keys() {
  for (const auto& [name, region] : plan_.regions) {
    contents_.add(name, region.place, region.seed);
    if (!region.is_registered) continue;
    Block block{};
    encode(region.attributes, block.data() + kCommandHeaderBytes);
    must_execute(CommandOpcode::RegisterMr, key_index(region.attributes.key), block,
                 place_of("regions", name));
  }
  for (const auto& [name, window] : plan_.windows) {
    Block block{};
    encode(window, block.data() + kCommandHeaderBytes);
    must_execute(CommandOpcode::AllocMw, key_index(window.key), block, place_of("windows", name));
  }
}

void VectorHost::make_srqs() {
  for (const auto& [name, planned] : plan_.srqs) {
    const Pd pd{planned.pd};
    SrqInitAttr init = planned.init;
    init.pd = &pd;
    if (!planned.cq.empty()) init.cq = cqs_.at(planned.cq);
    Srq* const srq = verbs_.create_srq(init);
    if (!srq) place_of("srqs", name).refuse("the device gives no SRQ", "fewer or smaller SRQs");
    must_be(srq->srqn, planned.number, name);
    srqs_[name] = srq;
  }
}

void VectorHost::make_ee_contexts() {
  for (const auto& [name, number] : plan_.rd_domains)
    if (verbs_.alloc_rdd() == std::nullopt)
      place_of("rd_domains", name)
          .refuse("the device gives no RD domain", "setup.options.rd: true");
  for (const auto& [name, planned] : plan_.ee_contexts) {
    const JsonAt where = place_of("ee_contexts", name);
    if (!verbs_.create_eec(planned.eecn, planned.eecn)) where.refuse("the device gives none", "RD");
    QpAttributes a = planned.attributes;
    const QpState last = a.state;
    std::vector<QpState> states = states_on_the_way(last);
    if (last == QpState::Error || last == QpState::Sqd) states.push_back(last);
    QpState from = QpState::Reset;
    for (const QpState to : states) {
      a.state = to;
      a.mask = find_transition(kEeContext, std::exchange(from, to), to)->required;
      if (verbs_.modify_eec(planned.eecn, a) != Error::None)
        where.refuse(fmt::format("{} is refused: {}", name_of(to), name_of(verbs_.last_status())),
                     "attributes that the transition takes");
    }
  }
}

void VectorHost::make_qp(const std::string& name, const PlannedQp& planned) {
  const JsonAt where = place_of("qps", name);
  const Pd pd{planned.pd};
  QpInitAttr init = planned.init;
  init.pd = &pd;
  init.send_cq = cqs_.at(planned.send_cq);
  init.recv_cq = cqs_.at(planned.recv_cq);
  if (!planned.srq.empty()) init.srq = srqs_.at(planned.srq);
  Qp* const qp = verbs_.create_qp(init, planned.qpn);
  if (!qp) where.refuse("the device gives no QP", std::string(name_of(verbs_.last_status())));
  QpAttributes a = planned.attributes;
  const QpState last = a.state;
  QpState from = QpState::Reset;
  const Services kind = kind_of(init.service, init.side);
  for (const QpState to : states_on_the_way(last)) {
    a.state = to;
    const QpTransition& t = *find_transition(kind, std::exchange(from, to), to);
    a.mask = t.required | (init.service == Service::Rd ? t.optional & kGivenToRd : 0);
    if (verbs_.modify_qp(*qp, a) != Error::None)
      where.refuse(fmt::format("{} is refused: {}", name_of(to), name_of(verbs_.last_status())),
                   "attributes that the transition takes");
  }
  if (last == QpState::Error || last == QpState::Sqd) {
    a.state = last;
    a.mask = kQpState;
    verbs_.modify_qp(*qp, a);
  }
  put_queue_state(planned.state, device_.contexts(), planned.qpn);
  qps_[name] = {name, qp, planned.peer, planned.to_peer, planned.rd_to_peer};
}

Srq& VectorHost::srq_of(const JsonAt& json) const {
  const auto found = srqs_.find(json["srq"].text());
  if (found == srqs_.end())
    json["srq"].refuse("there is no SRQ '" + json["srq"].text() + "'", "one of setup.srqs");
  return *found->second;
}
}  // namespace hca::testbench
