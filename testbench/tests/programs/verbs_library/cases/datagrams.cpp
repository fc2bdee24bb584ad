// SPDX-License-Identifier: Apache-2.0
// ibv_create_ah_from_wc(3): the address of a datagram's sender. ibv_attach_mcast(3): each
// queue pair of a group gets a copy. ibv_create_srq_ex(3), ibv_get_srq_num(3).
#include <cstring>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
constexpr std::uint32_t kGrh = 40, kData = 64, kQkey = 0x1234, kGroupQpn = 0xff'ffff;

ibv_qp* make_datagram_qp(Bench& bench, End& end) {
  ibv_qp* const qp = end.make_qp(IBV_QPT_UD);
  Path path = path_to(IBV_QPT_UD, end, end, 0);
  int error = ibv_modify_qp(qp, &path.init, path.init_mask);
  if (!error) error = ibv_modify_qp(qp, &path.rtr, path.rtr_mask);
  if (!error) error = ibv_modify_qp(qp, &path.rts, path.rts_mask);
  bench.checks->equal("a queue pair for datagrams", error, 0);
  return qp;
}

ibv_wc_status send(End& from, ibv_qp* qp, ibv_ah* ah, std::uint32_t qpn) {
  ibv_sge data = from.sge(0, kData);
  ibv_send_wr wr = work(IBV_WR_SEND, &data);
  wr.wr.ud.ah = ah, wr.wr.ud.remote_qpn = qpn, wr.wr.ud.remote_qkey = kQkey;
  if (post(qp, wr)) return IBV_WC_GENERAL_ERR;
  return from.next_completion().status;
}

void check_way_back(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_qp *const a = make_datagram_qp(bench, bench.a), *const b = make_datagram_qp(bench, bench.b);
  ibv_ah_attr there = address_of(bench.b);
  there.is_global = 1, there.grh.dgid = bench.b.gid, there.grh.hop_limit = 64;
  ibv_ah* const ah = ibv_create_ah(bench.a.pd, &there);
  checks.holds("ibv_create_ah", ah);
  post_receive(b, bench.b.sge(1024, kGrh + kData));
  checks.equal("a datagram", send(bench.a, a, ah, b->qp_num), IBV_WC_SUCCESS);
  ibv_wc wc = bench.b.next_completion();
  checks.equal("arrives", wc.status, IBV_WC_SUCCESS);
  checks.equal("with its GRH", wc.wc_flags & IBV_WC_GRH, IBV_WC_GRH);
  checks.equal("in its length", wc.byte_len, kGrh + kData);
  checks.equal("its sender", wc.src_qp, a->qp_num);
  auto* const grh = reinterpret_cast<ibv_grh*>(bench.b.buffer.data() + 1024);
  ibv_ah_attr back{};
  checks.equal("ibv_init_ah_from_wc", ibv_init_ah_from_wc(bench.b.context, 1, &wc, grh, &back), 0);
  checks.equal("its GID", std::memcmp(&back.grh.dgid, &bench.a.gid, sizeof(ibv_gid)), 0);
  checks.equal("its LID", back.dlid, bench.a.port.lid);
  constexpr int kRoceV2 = 3;  // where Linux has the GID of RoCEv2 with IPv4
  constexpr int kUdpOverIp4 = 8 | 2;
  const bool ethernet = bench.b.port.link_layer == IBV_LINK_LAYER_ETHERNET;
  checks.equal("its network header", int(wc.sl), ethernet ? kUdpOverIp4 : 0);
  checks.equal("which is no service level", int(back.sl), 0);
  checks.equal("the receiver's GID", back.grh.sgid_index, ethernet ? kRoceV2 : 0);
  checks.equal("a port that there is not", ibv_init_ah_from_wc(bench.b.context, 9, &wc, grh, &back),
               EINVAL);
  ibv_init_ah_from_wc(bench.b.context, 1, &wc, grh, &back);
  ibv_ah* const way = ibv_create_ah_from_wc(bench.b.pd, &wc, grh, 1);
  checks.holds("ibv_create_ah_from_wc", way);
  post_receive(a, bench.a.sge(1024, kGrh + kData));
  checks.equal("an answer", send(bench.b, b, way, wc.src_qp), IBV_WC_SUCCESS);
  wc = bench.a.next_completion();
  checks.equal("arrives", wc.status, IBV_WC_SUCCESS);
  checks.equal("its sender", wc.src_qp, b->qp_num);
  checks.equal("destroyed",
               ibv_destroy_ah(ah) | ibv_destroy_ah(way) | ibv_destroy_qp(a) | ibv_destroy_qp(b), 0);
}

// One datagram to the group completes so many receives of that CQ and no more. In real time they
// come when the simulation gets to it.
void check_copies(Bench& bench, ibv_qp* from, ibv_ah* group, int wanted, const char* what) {
  Checks& checks = *bench.checks;
  checks.equal("a datagram to a group", send(bench.a, from, group, kGroupQpn), IBV_WC_SUCCESS);
  int found = 0;
  while (found < wanted && bench.b.next_completion().status == IBV_WC_SUCCESS) ++found;
  while (bench.b.has_completion_left()) ++found;
  checks.equal(what, found, wanted);
}

// ff12::7; among IPv4 addresses 239.1.2.7.
ibv_gid group_of(const ibv_gid& own) {
  constexpr std::array<unsigned char, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  ibv_gid gid{};
  gid.raw[0] = 0xff, gid.raw[1] = 0x12, gid.raw[15] = 7;
  if (std::memcmp(own.raw, kMapped.data(), kMapped.size())) return gid;
  std::memcpy(gid.raw, kMapped.data(), kMapped.size());
  gid.raw[12] = 239, gid.raw[13] = 1, gid.raw[14] = 2;
  return gid;
}

void check_group(Bench& bench) {
  Checks& checks = *bench.checks;
  constexpr std::uint16_t kLid = 0xc123;
  const ibv_gid gid = group_of(bench.a.gid);
  ibv_qp* const from = make_datagram_qp(bench, bench.a);
  ibv_qp *const one = make_datagram_qp(bench, bench.b), *const two =
                                                            make_datagram_qp(bench, bench.b);
  for (ibv_qp* qp : {one, two})
    for (int i = 0; i < 4; ++i) post_receive(qp, bench.b.sge(1024, kGrh + kData));
  ibv_ah_attr to{};
  to.port_num = 1, to.dlid = kLid, to.is_global = 1, to.grh.dgid = gid, to.grh.hop_limit = 1;
  ibv_ah* const group = ibv_create_ah(bench.a.pd, &to);
  checks.holds("an address handle of a group", group);
  check_copies(bench, from, group, 0, "of nobody");
  checks.equal("ibv_attach_mcast", ibv_attach_mcast(one, &gid, kLid), 0);
  check_copies(bench, from, group, 1, "of one");
  checks.equal("ibv_attach_mcast", ibv_attach_mcast(two, &gid, kLid), 0);
  check_copies(bench, from, group, 2, "of two");
  checks.equal("a queue pair in a group", ibv_destroy_qp(two), EBUSY);
  checks.equal("ibv_detach_mcast", ibv_detach_mcast(one, &gid, kLid), 0);
  check_copies(bench, from, group, 1, "of the other");
  checks.equal("ibv_detach_mcast", ibv_detach_mcast(two, &gid, kLid), 0);
  checks.equal(
      "destroyed",
      ibv_destroy_ah(group) | ibv_destroy_qp(from) | ibv_destroy_qp(one) | ibv_destroy_qp(two), 0);
}

// A datagram for which the receive is too short is dropped, and the receive waits for the next.
void check_short(Bench& bench) {
  Checks& checks = *bench.checks;
  Pair pair(bench, IBV_QPT_UD);
  ibv_ah_attr path = address_of(bench.b);
  ibv_ah* const ah = ibv_create_ah(bench.a.pd, &path);
  post_receive(pair.b, bench.b.sge(0, kGrh + 8), 5);
  for (const std::uint32_t bytes : {16u, 8u}) {
    ibv_sge data = bench.a.sge(0, bytes);
    ibv_send_wr wr = work(IBV_WR_SEND, &data);
    wr.wr.ud.ah = ah, wr.wr.ud.remote_qpn = pair.b->qp_num, wr.wr.ud.remote_qkey = kQkey;
    checks.equal("a datagram", post(pair.a, wr), 0);
    checks.equal("is sent", bench.a.next_completion().status, IBV_WC_SUCCESS);
    if (bytes > 8) checks.holds("too long a one is lost", !bench.b.has_completion_left());
  }
  const ibv_wc wc = bench.b.next_completion();
  checks.equal("the next is received", wc.status, IBV_WC_SUCCESS);
  checks.equal("by the same receive", (long long)wc.wr_id, 5);
  checks.equal("its bytes", wc.byte_len, kGrh + 8);
  ibv_destroy_ah(ah);
}

void check_srq_ex(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_srq_init_attr_ex wanted{};
  wanted.attr = {kDepth, 1, 0};
  wanted.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  wanted.srq_type = IBV_SRQT_BASIC, wanted.pd = bench.b.pd;
  ibv_srq* const srq = ibv_create_srq_ex(bench.b.context, &wanted);
  checks.holds("ibv_create_srq_ex", srq);
  std::uint32_t number = 0;
  const int error = ibv_get_srq_num(srq, &number);
  checks.holds("ibv_get_srq_num", error == 0 || error == EOPNOTSUPP);
  checks.equal("ibv_destroy_srq", ibv_destroy_srq(srq), 0);
  for (const ibv_srq_type type : {IBV_SRQT_XRC, IBV_SRQT_TM}) {
    wanted.srq_type = type;
    ibv_srq* const other = ibv_create_srq_ex(bench.b.context, &wanted);
    checks.holds("an SRQ of a type that there is not",
                 !other && (errno == EOPNOTSUPP || errno == EINVAL));
  }
}
}  // namespace

void check_datagrams(Bench& bench) {
  check_short(bench);
  check_way_back(bench);
  check_group(bench);
  check_srq_ex(bench);
}
}  // namespace cases
