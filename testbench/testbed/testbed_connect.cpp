// SPDX-License-Identifier: Apache-2.0
// The objects of a testbed: ports, completion queues, regions, queue pairs and their connections.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "model/proto/transport/qp_transitions.h"
#include "testbench/testbed/testbed.h"

namespace hca::testbench {
using proto::QpState;

namespace {
constexpr u64 kMacBase = 0x02'00'00'00'00'01;  // locally administered
constexpr u32 kIpv4Base = 0x0a000001;          // 10.0.0.1
constexpr u64 kIpv6Prefix = 0xfe80'0000'0000'0000;
constexpr u64 kMappedIpv4 = 0xffff'0000'0000;
constexpr u16 kLidBase = 1;
constexpr u64 kBufferAlignment = 1 << 21;
constexpr u32 kQkey = 0x1234;
constexpr proto::Rights access_on(const NodeConfig& node) {
  return proto::kLocalWrite | proto::kRemoteWrite | proto::kRemoteRead | proto::kRemoteAtomic |
         proto::optional_rights(node.hca.transport);
}

// Addresses of a port: those of the same number are in a subnet, of 255 nodes each.
unsigned place_in(std::size_t nodes, const NodePort& at) {
  return unsigned(at.node + nodes * at.port);
}
unsigned host_part(const NodePort& at) {
  return (at.node & 0xff) + (at.port << 8) + (at.node >> 8 << 16);
}
u64 mac_of(std::size_t nodes, const NodePort& at) { return kMacBase + place_in(nodes, at); }
u64 gid_low_of_ipv4(const NodePort& at) { return kMappedIpv4 | (kIpv4Base + host_part(at)); }
u64 gid_low_of_ipv6(const NodePort& at) { return 1 + host_part(at); }
u16 lid_of(std::size_t nodes, const NodePort& at) { return u16(kLidBase + place_in(nodes, at)); }

constexpr u32 kEventEntries = 1024;  // an armed completion queue has one event at most
}  // namespace

proto::PortAttributes Testbed::port_of(const NodePort& at) const {
  proto::PortAttributes port{};
  port.framing = u8(scenario_.connection.framing);
  const bool datagrams = scenario_.connection.service() == proto::Service::Ud;
  port.mtu = datagrams ? bytes_of_mtu(scenario_.connection.path_mtu) : 4096;
  port.mac = mac_of(nodes_.size(), at);
  port.gids[0] = proto::make_gid(0, gid_low_of_ipv4(at));
  port.gids[1] = proto::make_gid(kIpv6Prefix, gid_low_of_ipv6(at));
  port.lid = lid_of(nodes_.size(), at);
  return port;
}

void Testbed::connect() {
  if (scenario_.waits_for_events())
    for (unsigned i = 0; i < nodes(); ++i) {
      auto& node = nodes_[i];
      check(i, node->events = node->verbs.create_comp_channel(kEventEntries), "CreateEq");
      node->memory.watch(node->events->message, proto::kMessageBytes,
                         [cpu = &node->cpu](u64, u64) { cpu->interrupt(); });
    }
  for (const auto& [key, need] : needs_of(scenario_)) {
    Bundle& bundle = bundles_[key];
    for (unsigned e = 0; e < kEnds; ++e) {
      bundle[e].peer = &bundle[other_end(e)];
      create(bundle[e], key.ends[e], need);
    }
    for (Endpoint& end : bundle) {
      end.peer_recv = end.peer->recv_mr, end.peer_taken = end.peer->taken_mr;
      end.peer_memory = &nodes_[end.peer->node]->memory;
    }
    connect(bundle, key, need);
  }
}

void Testbed::connect(Bundle& bundle, const BundleKey& key, const Need& need) {
  if (scenario_.connection.service() == proto::Service::Rd)
    for (unsigned e = 0; e < kEnds; ++e)
      connect_context(bundle[e], key.ends[other_end(e)], e == kClient, need.service_level);
  for (unsigned e = 0; e < kEnds; ++e)
    for (const QpPair& pair : pairs_of(bundle[e]))
      modify(bundle[e], key.ends[other_end(e)], e == kClient, pair, need.service_level);
}

void Testbed::check(unsigned i, bool good, std::string_view command) {
  if (!good)
    throw std::runtime_error(fmt::format("chip {}: {} gives command status {}", i, command,
                                         proto::name_of(nodes_[i]->verbs.last_status())));
}

void Testbed::create(Endpoint& end, const NodePort& place, const Need& need) {
  const unsigned i = end.node = place.node;
  Node& node = *nodes_[i];
  end.verbs = &node.verbs;
  end.cpu = &node.core(need.core);
  end.writes = &node.writes();
  end.period = node.hca.period().value();
  end.port = place.port + 1;
  end.events = node.events;
  if (scenario_.nodes[i].hca.caches.tables() && !node.verbs.context_memory())
    check(i, node.verbs.give_context_memory() == Error::None, "SetContextMemory");
  check(i, node.verbs.set_port(port_of(place), end.port) == Error::None, "SetPort");
  if (const u32 port = scenario_.connection.alternate_port) {
    const NodePort alternate{place.node, port - 1};
    check(i, node.verbs.set_port(port_of(alternate), port) == Error::None, "SetPort");
  }
  check(i, end.send_cq = node.verbs.create_cq(need.qps * need.send_wqes, node.events), "CreateCq");
  check(i, end.recv_cq = node.verbs.create_cq(need.qps * need.receive_wqes, node.events),
        "CreateCq");
  if (const ConnectionConfig& c = scenario_.connection; c.is_moderated())
    for (const Cq* cq : {end.send_cq, end.recv_cq})
      check(i,
            node.verbs.modify_cq(*cq, {u16(c.moderation_count),
                                       u16(c.moderation_period / kModerationUnit)}) == Error::None,
            "ModifyCq");
  const proto::Rights all = access_on(scenario_.nodes[i]);
  const auto region = [&](Mr& mr, u64 bytes, proto::Rights access) {
    const u64 at = node.verbs.alloc(bytes, kBufferAlignment);
    check(i, (mr = node.verbs.reg_mr(at, bytes, access)).lkey, "RegisterMr");
  };
  if (need.invalidates) region(end.taken_mr, 64, proto::kFastRegister);
  region(end.send_mr, need.send_bytes, all);
  region(end.recv_mr, need.recv_bytes, all);
  region(end.fetch_mr, need.fetch_bytes, all);
  for (const WorkingSetNeed& set : need.working_sets) create_working_set(end, set);
  create_queues(end, need);
  std::vector<HostCpu*> cores;
  for (u32 core = 0; core < need.cores; ++core) cores.push_back(&node.core(need.core + core));
  for (const Cq* cq : {end.send_cq, end.recv_cq})
    node.memory.watch(cq->address, u64{cq->entries()} * proto::kCqeBytes,
                      [cpu = end.cpu, cores, number = cq->cqn](u64, u64 bytes) {
                        cpu->probe.event(cpu->self.now(), HostStep::CqeWritten, number);
                        cpu->tell([&](HostMeter& meter) {
                          meter.wrote(cpu->self.now(), number, bytes / proto::kCqeBytes);
                        });
                        for (HostCpu* core : cores) core->notice();
                      });
}

void Testbed::create_working_set(Endpoint& end, const WorkingSetNeed& need) {
  WorkingSet& set = end.working_sets.emplace_back();
  set.bytes = need.bytes;
  set.regions = need.regions;
  const u64 bytes = need.bytes / need.regions;
  for (std::size_t kind = 0; kind < kBufferKinds; ++kind) {
    if (!need.kinds[kind]) continue;
    WorkingSet::Memory& memory = set.kinds[kind];
    memory.address = end.verbs->alloc(need.bytes, kBufferAlignment);
    for (u32 r = 0; r < need.regions; ++r) {
      memory.regions.push_back(end.verbs->reg_mr(memory.address + r * bytes, bytes,
                                                 access_on(scenario_.nodes[end.node])));
      check(end.node, memory.regions.back().lkey, "RegisterMr");
    }
  }
}

void Testbed::create_queues(Endpoint& end, const Need& need) {
  const unsigned i = end.node;
  QpInitAttr attributes;
  attributes.send_cq = end.send_cq;
  attributes.recv_cq = end.recv_cq;
  attributes.service = scenario_.connection.service();
  attributes.max_send_wr = need.send_wqes;
  attributes.max_recv_wr = need.receive_wqes;
  attributes.max_inline_data = need.inline_bytes;
  attributes.max_send_sge = attributes.max_recv_sge = need.sges;
  if (attributes.service == proto::Service::Rd) {
    ++attributes.max_send_sge;  // room for the operands of an ATOMIC
    create_context(end);
  }
  const bool xrc = scenario_.connection.is_xrc();
  const Numbers senders = destroy(i, end.qps, need.qps);
  const Numbers targets = destroy(i, end.targets, xrc ? need.qps : 0);
  end.to_peer.clear();
  create_srqs(end, need);
  if (xrc)
    attributes.side = proto::QpSide::Initiator;
  else if (end.shares_receives())
    attributes.srq = end.srqs.front();
  create(i, end.qps, attributes, senders);
  attributes.side = proto::QpSide::Target;
  attributes.xrcd = end.xrcd;
  create(i, end.targets, attributes, targets);
  end.qp = end.qps.front();
}

// The numbers of destroyed queue pairs, or as many that the verbs choose.
Testbed::Numbers Testbed::destroy(unsigned i, std::vector<Qp*>& qps, u32 count) {
  Numbers numbers(count);
  for (std::size_t qp = 0; qp < qps.size(); ++qp) {
    numbers[qp] = qps[qp]->qpn;
    check(i, nodes_[i]->verbs.destroy_qp(*qps[qp]) == Error::None, "DestroyQp");
  }
  qps.clear();
  return numbers;
}
void Testbed::create(unsigned i, std::vector<Qp*>& qps, const QpInitAttr& attributes,
                     const Numbers& numbers) {
  for (const std::optional<u32> number : numbers) {
    qps.push_back(nodes_[i]->verbs.create_qp(attributes, number));
    check(i, qps.back(), "CreateQp");
  }
}

// As many as the scenario wants. Those of XRC belong to a domain, which the targets have too.
void Testbed::create_srqs(Endpoint& end, const Need& need) {
  VerbsContext& verbs = nodes_[end.node]->verbs;
  const u32 count = scenario_.connection.srqs();
  Numbers numbers(count);
  for (std::size_t i = 0; i < end.srqs.size(); ++i) {
    numbers[i] = end.srqs[i]->srqn;
    check(end.node, verbs.destroy_srq(*end.srqs[i]) == Error::None, "DestroySrq");
  }
  end.srqs.clear();
  if (scenario_.connection.is_xrc() && !end.xrcd) {
    const std::optional<u32> made = verbs.alloc_xrcd();
    check(end.node, made.has_value(), "AllocXrcd");
    end.xrcd = *made;
  }
  SrqInitAttr shared;
  shared.max_sge = need.sges;
  shared.port = end.port;
  shared.xrcd = end.xrcd;
  shared.cq = end.recv_cq;
  for (const std::optional<u32> number : numbers) {
    shared.max_wr = (need.qps * need.receive_wqes + count - 1) / count;
    end.srqs.push_back(verbs.create_srq(shared, number));
    check(end.node, end.srqs.back(), "CreateSrq");
  }
}

void Testbed::renew(const BundleKey& key) {
  Bundle& bundle = bundles_.at(key);
  const Need need = needs_of(scenario_).at(key);
  for (Endpoint& end : bundle) create_queues(end, need);
  connect(bundle, key, need);
}

// The alternate path leads from port to port of the same number, like the primary one.
void Testbed::give_alternate(proto::QpAttributes& a, const NodePort& peer) const {
  const u32 port = scenario_.connection.alternate_port;
  if (!port) return;
  const NodePort to{peer.node, port - 1};
  proto::PathAttributes path = proto::primary_of(a);
  path.dmac = mac_of(nodes_.size(), to);
  path.dgid_low = a.sgid_index ? gid_low_of_ipv6(to) : gid_low_of_ipv4(to);
  path.dlid = lid_of(nodes_.size(), to);
  proto::set_alternate(a, path);
  a.alt_port = u8(port);
  a.alt_timeout = a.timeout;
  a.path_mig_state = proto::PathMigState::Rearm;
}

void Testbed::create_context(Endpoint& end) {
  VerbsContext& verbs = *end.verbs;
  if (!end.rdd) {
    const auto rdd = verbs.alloc_rdd();
    check(end.node, rdd.has_value(), "AllocRdd");
    end.rdd = *rdd;
  } else {
    check(end.node, verbs.destroy_eec(end.eecn) == Error::None, "DestroyEec");
  }
  const auto eecn = verbs.create_eec();
  check(end.node, eecn.has_value(), "CreateEec");
  end.eecn = *eecn;
  end.rd_to_peer.clear();
}

void Testbed::connect_context(Endpoint& end, const NodePort& peer, bool is_client,
                              u32 service_level) {
  proto::QpAttributes a = attributes_of(end, peer, is_client, service_level);
  a.dest_qpn = end.peer->eecn;
  QpState from = QpState::Reset;
  for (const QpState state : {QpState::Init, QpState::Rtr, QpState::Rts}) {
    a.state = state;
    a.mask = find_transition(proto::kEeContext, std::exchange(from, state), state)->required;
    check(end.node, end.verbs->modify_eec(end.eecn, a) == Error::None, "ModifyEec");
  }
}

proto::QpAttributes Testbed::attributes_of(const Endpoint& end, const NodePort& peer,
                                           bool is_client, u32 service_level) const {
  const ConnectionConfig& c = scenario_.connection;
  proto::QpAttributes a{};
  a.port = u8(end.port);
  a.access = access_on(scenario_.nodes[end.node]);
  a.path_mtu = bytes_of_mtu(c.path_mtu);
  a.sq_psn = is_client ? c.client_psn : c.server_psn;
  a.rq_psn = is_client ? c.server_psn : c.client_psn;
  a.max_rd_atomic = a.max_dest_rd_atomic = u8(c.max_rd_atomic);
  a.min_rnr_timer = u8(c.min_rnr_timer);
  a.timeout = u8(c.timeout);
  a.retry_count = u8(c.retry_count);
  a.rnr_retry = u8(c.rnr_retry);
  a.dmac = mac_of(nodes_.size(), peer);
  a.sgid_index = c.framing == proto::Framing::RoceV2Ip4 ? 0 : 1;
  a.dgid_high = a.sgid_index ? kIpv6Prefix : 0;
  a.dgid_low = a.sgid_index ? gid_low_of_ipv6(peer) : gid_low_of_ipv4(peer);
  a.hop_limit = 64;
  a.dlid = lid_of(nodes_.size(), peer);
  a.udp_source_port = u16(c.udp_source_port);
  a.qkey = kQkey;
  a.sl = u8(service_level);
  // Frames without a VLAN tag carry it in the high bits of their DSCP.
  if (!proto::is_native(c.framing)) a.traffic_class = u8((service_level & 7) << 5);
  a.rate_limit = u32(c.rate_limit / kKilobit);
  a.rdd = end.rdd;
  return a;
}

void Testbed::modify(Endpoint& end, const NodePort& peer, bool is_client, const QpPair& pair,
                     u32 service_level) {
  const ConnectionConfig& c = scenario_.connection;
  proto::QpAttributes a = attributes_of(end, peer, is_client, service_level);
  a.dest_qpn = pair.other->qpn;
  give_alternate(a, peer);
  if (end.rdd) end.rd_to_peer.push_back({end.eecn, a.dest_qpn, a.qkey});
  end.to_peer.push_back({a.dest_qpn, a.qkey, c.framing == proto::Framing::IbGlobal, a.sgid_index,
                         a.sl, a.traffic_class, a.hop_limit, a.flow_label, a.dlid,
                         a.udp_source_port, a.dmac, a.dgid_high, a.dgid_low});
  using namespace proto;
  QpState from = QpState::Reset;
  for (const QpState state : {QpState::Init, QpState::Rtr, QpState::Rts}) {
    a.state = state;
    const proto::Services kind = proto::kind_of(c.service(), pair.own->cap.side);
    const QpTransition& t = *find_transition(kind, std::exchange(from, state), state);
    a.mask = t.required;
    if (end.rdd) a.mask |= t.optional & (kQpAccess | kQpMinRnrTimer);
    if (c.alternate_port && state == QpState::Rts) a.mask |= kMigrationAttributes;
    if (end.verbs->modify_qp(*pair.own, a) != Error::None)
      throw std::runtime_error(fmt::format("chip {}: ModifyQp to state {} gives command status {}",
                                           end.node, name_of(state),
                                           name_of(end.verbs->last_status())));
  }
}
}  // namespace hca::testbench
