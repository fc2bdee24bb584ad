// SPDX-License-Identifier: Apache-2.0
// Arguments that a verb refuses.
#include <arpa/inet.h>
#include <sys/mman.h>

#include <cstring>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
int cq_of(Bench& bench, int entries, int vector) {
  return error_of(ibv_create_cq(bench.a.context, entries, nullptr, nullptr, vector),
                  ibv_destroy_cq);
}
int cq_with(Bench& bench, unsigned flags) {
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = kDepth, wanted.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, wanted.flags = flags;
  ibv_cq_ex* const made = ibv_create_cq_ex(bench.a.context, &wanted);
  return made ? ibv_destroy_cq(ibv_cq_ex_to_cq(made)) : errno;
}
constexpr std::array kCqs{
    CallRow{"a CQ of 1 entry", 0, [](Bench& b) { return cq_of(b, 1, 0); }},
    CallRow{"a CQ of max_cqe entries", 0, [](Bench& b) { return cq_of(b, b.a.device.max_cqe, 0); }},
    CallRow{"a CQ of no entries", EINVAL, [](Bench& b) { return cq_of(b, 0, 0); }},
    CallRow{"a CQ of -1 entries", EINVAL, [](Bench& b) { return cq_of(b, -1, 0); }},
    CallRow{"a CQ of more entries than there are", EINVAL,
            [](Bench& b) { return cq_of(b, b.a.device.max_cqe + 1, 0); }},
    CallRow{"a completion vector beyond the last", EINVAL,
            [](Bench& b) { return cq_of(b, 1, b.a.context->num_comp_vectors); }},
    CallRow{"a CQ of a program with one thread", 0,
            [](Bench& b) { return cq_with(b, IBV_CREATE_CQ_ATTR_SINGLE_THREADED); }},
    CallRow{"a CQ whose overruns are ignored", EOPNOTSUPP,
            [](Bench& b) { return cq_with(b, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN); }},
    CallRow{"a completion vector below 0", EINVAL, [](Bench& b) { return cq_of(b, 1, -1); }},
};

int qp_of(Bench& bench, void (*change)(Bench&, ibv_qp_init_attr&)) {
  ibv_qp_init_attr wanted = bench.a.wanted_qp(IBV_QPT_RC);
  change(bench, wanted);
  const ibv_qp_cap before = wanted.cap;
  ibv_qp* const made = ibv_create_qp(bench.a.pd, &wanted);
  if (!made) return errno;
  ibv_destroy_qp(made);
  const ibv_qp_cap& is = wanted.cap;
  const bool enough =
      is.max_send_wr >= before.max_send_wr && is.max_recv_wr >= before.max_recv_wr &&
      is.max_send_sge >= before.max_send_sge && is.max_recv_sge >= before.max_recv_sge &&
      is.max_inline_data >= before.max_inline_data;
  return enough ? 0 : ERANGE;
}
constexpr std::array kQps{
    CallRow{"a queue pair as deep and wide as the device says", 0,
            [](Bench& bench) {
              return qp_of(bench, [](Bench& b, auto& wanted) {
                const auto deep = unsigned(b.a.device.max_qp_wr);
                const auto wide = unsigned(b.a.device.max_sge);
                wanted.cap = {deep, deep, wide, wide, 0};
              });
            }},
    CallRow{"max_send_wr beyond the device's", EINVAL,
            [](Bench& bench) {
              return qp_of(bench, [](Bench& b, auto& wanted) {
                wanted.cap.max_send_wr = unsigned(b.a.device.max_qp_wr) + 1;
              });
            }},
    CallRow{"max_recv_wr beyond the device's", EINVAL,
            [](Bench& bench) {
              return qp_of(bench, [](Bench& b, auto& wanted) {
                wanted.cap.max_recv_wr = unsigned(b.a.device.max_qp_wr) + 1;
              });
            }},
    CallRow{"max_send_sge beyond the device's", EINVAL,
            [](Bench& bench) {
              return qp_of(bench, [](Bench& b, auto& wanted) {
                wanted.cap.max_send_sge = unsigned(b.a.device.max_sge) + 1;
              });
            }},
    CallRow{"max_recv_sge beyond the device's", EINVAL,
            [](Bench& bench) {
              return qp_of(bench, [](Bench& b, auto& wanted) {
                wanted.cap.max_recv_sge = unsigned(b.a.device.max_sge) + 1;
              });
            }},
    CallRow{"a megabyte of inline data", EINVAL,
            [](Bench& bench) {
              return qp_of(bench, [](Bench&, auto& w) { w.cap.max_inline_data = 1 << 20; });
            }},
    CallRow{
        "no send CQ", EINVAL,
        [](Bench& bench) { return qp_of(bench, [](Bench&, auto& w) { w.send_cq = nullptr; }); }},
    CallRow{
        "no receive CQ", EINVAL,
        [](Bench& bench) { return qp_of(bench, [](Bench&, auto& w) { w.recv_cq = nullptr; }); }},
    CallRow{
        "a CQ of another device", EINVAL,
        [](Bench& bench) { return qp_of(bench, [](Bench& b, auto& w) { w.send_cq = b.b.cq; }); }},
    CallRow{"a raw packet queue pair", EOPNOTSUPP,
            [](Bench& bench) {
              return qp_of(bench, [](Bench&, auto& w) { w.qp_type = IBV_QPT_RAW_PACKET; });
            }},
};

int srq_of(Bench& bench, unsigned entries, unsigned sges, unsigned limit = 0) {
  ibv_srq_init_attr wanted{};
  wanted.attr = {entries, sges, limit};
  ibv_srq* const made = ibv_create_srq(bench.a.pd, &wanted);
  if (!made) return errno;
  const bool enough = wanted.attr.max_wr >= entries && wanted.attr.max_sge >= sges;
  ibv_destroy_srq(made);
  return enough ? 0 : ERANGE;
}
constexpr std::array kSrqs{
    CallRow{"an SRQ as deep and wide as the device says", 0,
            [](Bench& b) {
              return srq_of(b, unsigned(b.a.device.max_srq_wr), unsigned(b.a.device.max_srq_sge));
            }},
    CallRow{"an SRQ deeper than the device's", EINVAL,
            [](Bench& b) { return srq_of(b, unsigned(b.a.device.max_srq_wr) + 1, 1); }},
    CallRow{"an SRQ wider than the device's", EINVAL,
            [](Bench& b) { return srq_of(b, 1, unsigned(b.a.device.max_srq_sge) + 1); }},
    CallRow{"an SRQ of nothing", EINVAL, [](Bench& b) { return srq_of(b, 0, 1); }},
    CallRow{"a queue pair on an SRQ, whose receives are ignored", 0,
            [](Bench& b) {
              ibv_srq_init_attr attr{};
              attr.attr = {kDepth, 1, 0};
              ibv_srq* const srq = ibv_create_srq(b.a.pd, &attr);
              ibv_qp_init_attr wanted = b.a.wanted_qp(IBV_QPT_RC);
              wanted.srq = srq, wanted.cap.max_recv_wr = wanted.cap.max_recv_sge = 1 << 30;
              const int error = error_of(ibv_create_qp(b.a.pd, &wanted), ibv_destroy_qp);
              ibv_destroy_srq(srq);
              return error;
            }},
    CallRow{"a UC queue pair on an SRQ", EINVAL,
            [](Bench& b) {
              ibv_srq_init_attr attr{};
              attr.attr = {kDepth, 1, 0};
              ibv_srq* const srq = ibv_create_srq(b.a.pd, &attr);
              ibv_qp_init_attr wanted = b.a.wanted_qp(IBV_QPT_UC);
              wanted.srq = srq;
              const int error = error_of(ibv_create_qp(b.a.pd, &wanted), ibv_destroy_qp);
              ibv_destroy_srq(srq);
              return error;
            }},
};

int mr_of(Bench& bench, void* address, std::size_t bytes, int access) {
  return error_of(ibv_reg_mr(bench.a.pd, address, bytes, access), ibv_dereg_mr);
}
constexpr std::array kRegions{
    CallRow{"memory that is read only, to read", 0,
            [](Bench& b) {
              static const int constant = 7;
              return mr_of(b, const_cast<int*>(&constant), sizeof constant, 0);
            }},
    CallRow{"remote write without local write", EINVAL,
            [](Bench& b) { return mr_of(b, b.a.buffer.data(), 8, IBV_ACCESS_REMOTE_WRITE); }},
    CallRow{"remote atomic without local write", EINVAL,
            [](Bench& b) { return mr_of(b, b.a.buffer.data(), 8, IBV_ACCESS_REMOTE_ATOMIC); }},
    CallRow{"memory on demand", EOPNOTSUPP,
            [](Bench& b) { return mr_of(b, b.a.buffer.data(), 8, IBV_ACCESS_ON_DEMAND); }},
    CallRow{"relaxed ordering, which is optional", 0,
            [](Bench& b) { return mr_of(b, b.a.buffer.data(), 8, IBV_ACCESS_RELAXED_ORDERING); }},
    CallRow{"huge pages, of memory that is not on demand", 0,
            [](Bench& b) { return mr_of(b, b.a.buffer.data(), 8, IBV_ACCESS_HUGETLB); }},
    CallRow{"an optional right that nobody knows", 0,
            [](Bench& b) { return mr_of(b, b.a.buffer.data(), 8, 1 << 29); }},
    CallRow{"a right that is not optional and that nobody knows", EOPNOTSUPP,
            [](Bench& b) { return mr_of(b, b.a.buffer.data(), 8, 1 << 30); }},
    CallRow{"no bytes", EINVAL, [](Bench& b) { return mr_of(b, b.a.buffer.data(), 0, 0); }},
    CallRow{"memory that is not there", EFAULT,
            [](Bench& b) {
              void* const gone = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              munmap(gone, 4096);
              return mr_of(b, gone, 4096, 0);
            }},
};

int errno_if(bool failed) { return failed ? errno : 0; }
constexpr std::array kQueries{
    CallRow{"port 1", 0,
            [](Bench& b) {
              ibv_port_attr port;
              return ibv_query_port(b.a.context, 1, &port);
            }},
    CallRow{"port 0", EINVAL,
            [](Bench& b) {
              ibv_port_attr port;
              return ibv_query_port(b.a.context, 0, &port);
            }},
    CallRow{"a port beyond the last", EINVAL,
            [](Bench& b) {
              ibv_port_attr port;
              return ibv_query_port(b.a.context, std::uint8_t(b.a.device.phys_port_cnt + 1), &port);
            }},
    CallRow{"a GID beyond the table", EINVAL,
            [](Bench& b) {
              ibv_gid gid;
              return errno_if(ibv_query_gid(b.a.context, 1, b.a.port.gid_tbl_len, &gid) == -1);
            }},
    CallRow{"a GID below the table", EINVAL,
            [](Bench& b) {
              ibv_gid gid;
              return errno_if(ibv_query_gid(b.a.context, 1, -1, &gid) == -1);
            }},
    CallRow{"a GID of no port", EINVAL,
            [](Bench& b) {
              ibv_gid gid;
              return errno_if(ibv_query_gid(b.a.context, 2, 0, &gid) == -1);
            }},
    CallRow{"an entry of the GID table without a GID", ENODATA,
            [](Bench& b) {
              ibv_gid_entry entry;
              return ibv_query_gid_ex(b.a.context, 1, 1, &entry, 0);
            }},
    CallRow{"an entry beyond the GID table", EINVAL,
            [](Bench& b) {
              ibv_gid_entry entry;
              return ibv_query_gid_ex(b.a.context, 1, unsigned(b.a.port.gid_tbl_len), &entry, 0);
            }},
    CallRow{"a table of GIDs without room", EINVAL,
            [](Bench& b) {
              ibv_gid_entry entry;
              return int(-ibv_query_gid_table(b.a.context, &entry, 0, 0));
            }},
    CallRow{"a P_Key beyond the table", EINVAL,
            [](Bench& b) {
              __be16 pkey;
              return errno_if(ibv_query_pkey(b.a.context, 1, b.a.port.pkey_tbl_len, &pkey) == -1);
            }},
    CallRow{"where a P_Key is", 0,
            [](Bench& b) {
              __be16 pkey;
              ibv_query_pkey(b.a.context, 1, 0, &pkey);
              return ibv_get_pkey_index(b.a.context, 1, pkey);
            }},
    CallRow{
        "where no P_Key is", ENOENT,
        [](Bench& b) { return errno_if(ibv_get_pkey_index(b.a.context, 1, htons(0x1234)) == -1); }},
};

int ah_of(Bench& bench, void (*change)(ibv_ah_attr&)) {
  ibv_ah_attr wanted = address_of(bench.b);
  change(wanted);
  return error_of(ibv_create_ah(bench.a.pd, &wanted), ibv_destroy_ah);
}
constexpr std::array kPaths{
    CallRow{"a path", 0, [](Bench& b) { return ah_of(b, [](auto&) {}); }},
    CallRow{"the last service level", 0,
            [](Bench& b) { return ah_of(b, [](auto& path) { path.sl = 15; }); }},
    CallRow{"a service level that there is not", EINVAL,
            [](Bench& b) { return ah_of(b, [](auto& path) { path.sl = 16; }); }},
    CallRow{"a path from no port", EINVAL,
            [](Bench& b) { return ah_of(b, [](auto& path) { path.port_num = 0; }); }},
    CallRow{"a path from a port beyond the last", EINVAL,
            [](Bench& b) { return ah_of(b, [](auto& path) { path.port_num = 2; }); }},
    CallRow{"a path from an entry of the GID table without a GID", EINVAL,
            [](Bench& b) {
              return ah_of(b, [](auto& path) { path.is_global = 1, path.grh.sgid_index = 1; });
            }},
    CallRow{
        "a path at the rate of 10 Gb/s", 0,
        [](Bench& b) { return ah_of(b, [](auto& path) { path.static_rate = IBV_RATE_10_GBPS; }); }},
    CallRow{"a path at a rate that is none", EINVAL,
            [](Bench& b) { return ah_of(b, [](auto& path) { path.static_rate = 200; }); }},
    CallRow{"a path from a GID beyond the table", EINVAL,
            [](Bench& b) {
              return ah_of(b, [](auto& path) { path.is_global = 1, path.grh.sgid_index = 200; });
            }},
};

int attach(Bench& bench, ibv_qp_type type, unsigned char first, int times) {
  ibv_qp* const qp = bench.a.make_qp(type);
  ibv_gid group{};
  group.raw[0] = first, group.raw[1] = 0x12, group.raw[15] = 9;
  int error = 0;
  for (int i = 0; i < times && !error; ++i) error = ibv_attach_mcast(qp, &group, 0xc001);
  if (!error && ibv_destroy_qp(qp) != EBUSY) return ERANGE;  // while it is attached
  if (!error) error = ibv_detach_mcast(qp, &group, 0xc001);
  if (!error && !ibv_detach_mcast(qp, &group, 0xc001)) return ERANGE;  // it is not any more
  ibv_destroy_qp(qp);
  return error;
}
constexpr std::array kGroups{
    CallRow{"a multicast group", 0, [](Bench& b) { return attach(b, IBV_QPT_UD, 0xff, 1); }},
    CallRow{"a multicast group twice", 0, [](Bench& b) { return attach(b, IBV_QPT_UD, 0xff, 2); }},
    CallRow{"a multicast group of RC", EINVAL,
            [](Bench& b) { return attach(b, IBV_QPT_RC, 0xff, 1); }},
    CallRow{"a group that is none", EINVAL,
            [](Bench& b) { return attach(b, IBV_QPT_UD, 0xfe, 1); }},
};
}  // namespace

void check_arguments(Bench& bench) {
  walk(bench, kCqs);
  walk(bench, kQps);
  walk(bench, kSrqs);
  walk(bench, kRegions);
  walk(bench, kQueries);
  walk(bench, kPaths);
  walk(bench, kGroups);
}
}  // namespace cases
