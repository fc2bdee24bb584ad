// SPDX-License-Identifier: Apache-2.0
// ibv_attach_mcast(3), ibv_create_qp_ex(3): a datagram to a group reaches the members on the HCA
// that sends it as well, and its sender unless that has IBV_QP_CREATE_BLOCK_SELF_MCAST_LB.
#include <time.h>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
constexpr std::uint32_t kGrh = 40, kQkey = 0x1234, kGroupQpn = 0xff'ffff;
constexpr std::uint16_t kLid = 0xc124;

ibv_gid group_gid(const ibv_gid& own) {
  ibv_gid gid{};
  const bool ipv4 = own.raw[10] == 0xff && own.raw[11] == 0xff;
  if (ipv4) {  // 239.1.2.8
    gid.raw[10] = gid.raw[11] = 0xff;
    gid.raw[12] = 239, gid.raw[13] = 1, gid.raw[14] = 2;
  } else {
    gid.raw[0] = 0xff, gid.raw[1] = 0x12;
  }
  gid.raw[15] = 8;
  return gid;
}

int errors_of(End& end, ibv_qp_type type, std::uint32_t flags, ibv_qp** made) {
  ibv_qp_init_attr_ex wanted{};
  wanted.send_cq = wanted.recv_cq = end.cq, wanted.qp_type = type, wanted.pd = end.pd;
  wanted.cap = {kDepth, kDepth, 1, 1, 0};
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
  wanted.create_flags = flags;
  *made = ibv_create_qp_ex(end.context, &wanted);
  return *made ? 0 : errno;
}

// A queue pair that may be of the group.
struct Member {
  Member(Bench& bench, End& end, bool is_attached, bool blocks_self) : its(end) {
    Checks& checks = *bench.checks;
    const std::uint32_t flags = blocks_self ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0;
    checks.equal("a queue pair", errors_of(end, IBV_QPT_UD, flags, &qp), 0);
    Path path = path_to(IBV_QPT_UD, end, end, 0);
    int error = ibv_modify_qp(qp, &path.init, path.init_mask);
    error |= ibv_modify_qp(qp, &path.rtr, path.rtr_mask);
    error |= ibv_modify_qp(qp, &path.rts, path.rts_mask);
    for (int i = 0; i < 4; ++i) error |= post_receive(qp, end.sge(1024, kGrh + 64));
    gid = group_gid(end.gid);
    if (is_attached) error |= ibv_attach_mcast(qp, &gid, kLid);
    checks.equal("is ready", error, 0);
    attached = is_attached;
  }
  ~Member() {
    if (attached) ibv_detach_mcast(qp, &gid, kLid);
    ibv_destroy_qp(qp);
  }
  Member(const Member&) = delete;
  End& its;
  ibv_qp* qp = nullptr;
  ibv_gid gid{};
  bool attached = false;
};

// Receives of this queue pair that have completed; `sent`: sends of the device.
int received(End& end, const ibv_qp* qp, int& sent) {
  int found = 0;
  ibv_wc wc;
  const timespec moment{0, 20'000'000};
  nanosleep(&moment, nullptr);
  while (ibv_poll_cq(end.cq, 1, &wc) == 1) {
    sent += wc.opcode == IBV_WC_SEND && wc.status == IBV_WC_SUCCESS;
    found += wc.opcode == IBV_WC_RECV && wc.status == IBV_WC_SUCCESS && wc.qp_num == qp->qp_num;
  }
  return found;
}

struct GroupRow {
  const char* what;
  bool sender_attached, sender_blocks;
  bool at_own, at_sender;  // receivers of a copy of one datagram
};
constexpr std::array kRows{
    GroupRow{"of a sender that is no member", false, false, true, false},
    GroupRow{"of a member", true, false, true, true},
    GroupRow{"of a member that blocks its own", true, true, true, false},
};
void check_row(Bench& bench, const GroupRow& row) {
  Checks& checks = *bench.checks;
  const std::string what = row.what;
  Member sender(bench, bench.a, row.sender_attached, row.sender_blocks);
  ibv_ah_attr to{};
  to.port_num = 1, to.dlid = kLid, to.is_global = 1, to.grh.dgid = sender.gid;
  to.grh.hop_limit = 1;
  ibv_ah* const group = ibv_create_ah(bench.a.pd, &to);
  const auto send = [&] {
    ibv_sge data = bench.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_SEND, &data);
    wr.wr.ud.ah = group, wr.wr.ud.remote_qpn = kGroupQpn, wr.wr.ud.remote_qkey = kQkey;
    checks.equal("a datagram", post(sender.qp, wr), 0);
  };
  {
    const Member own(bench, bench.a, true, false);
    send();
    int sent = 0;
    checks.equal("a member beside the sender, " + what, received(bench.a, own.qp, sent),
                 row.at_own);
    checks.equal("is sent", sent, 1);
  }
  {
    const Member far(bench, bench.b, true, false);
    send();
    int sent = 0, none = 0;
    checks.equal("the sender, " + what, received(bench.a, sender.qp, sent), row.at_sender);
    checks.equal("is sent", sent, 1);
    checks.equal("a member on the other HCA, " + what, received(bench.b, far.qp, none), 1);
  }
  {
    const Member other(bench, bench.a, false, false);
    send();
    int sent = 0;
    checks.equal("no member, " + what, received(bench.a, other.qp, sent), 0);
  }
  checks.equal("ibv_destroy_ah", ibv_destroy_ah(group), 0);
}

// The one that blocks its own gets those of others of its HCA.
void check_of_others(Bench& bench) {
  Checks& checks = *bench.checks;
  const Member sender(bench, bench.a, false, false), blocks(bench, bench.a, true, true);
  ibv_ah_attr to{};
  to.port_num = 1, to.dlid = kLid, to.is_global = 1, to.grh.dgid = sender.gid;
  ibv_ah* const group = ibv_create_ah(bench.a.pd, &to);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_SEND, &data);
  wr.wr.ud.ah = group, wr.wr.ud.remote_qpn = kGroupQpn, wr.wr.ud.remote_qkey = kQkey;
  checks.equal("a datagram", post(sender.qp, wr), 0);
  int sent = 0;
  checks.equal("one that blocks its own, of another", received(bench.a, blocks.qp, sent), 1);
  checks.equal("ibv_destroy_ah", ibv_destroy_ah(group), 0);
}
}  // namespace

void check_multicast(Bench& bench) {
  for (const GroupRow& row : kRows) check_row(bench, row);
  check_of_others(bench);
  ibv_qp* none;
  bench.checks->equal("one of RC that blocks its own",
                      errors_of(bench.a, IBV_QPT_RC, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, &none),
                      EINVAL);
  bench.checks->equal("other flags", errors_of(bench.a, IBV_QPT_UD, 1 << 8, &none), EOPNOTSUPP);
}
}  // namespace cases
