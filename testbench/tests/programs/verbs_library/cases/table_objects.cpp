// SPDX-License-Identifier: Apache-2.0
// Devices, domains, regions, windows, address handles, groups.
#include <sys/mman.h>

#include "testbench/tests/programs/verbs_library/cases/table.h"

namespace cases {
namespace {
// ---- Queries: ibv_query_gid(), ibv_query_pkey() and ibv_get_pkey_index() return -1
long query_port(Things& t, unsigned number) {
  ibv_port_attr port;
  return ibv_query_port(t.a.context, std::uint8_t(number), &port);
}
long query_gid(Things& t, unsigned port, int index) {
  ibv_gid gid;
  return ibv_query_gid(t.a.context, std::uint8_t(port), index, &gid);
}
long query_gid_ex(Things& t, unsigned port, unsigned index, unsigned flags) {
  ibv_gid_entry entry;
  return ibv_query_gid_ex(t.a.context, port, index, &entry, flags);
}
long query_pkey(Things& t, unsigned port, int index) {
  __be16 pkey;
  return ibv_query_pkey(t.a.context, std::uint8_t(port), index, &pkey);
}
long query_clock(Things& t, unsigned mask) {
  ibv_values_ex values{};
  values.comp_mask = mask;
  return ibv_query_rt_values_ex(t.a.context, &values);
}
constexpr std::array kQueries{
    // clang-format off
    VerbRow{"ibv_query_port",         "port 0",             EINVAL, EINVAL, [](Things& t) { return query_port(t, 0); }},
    VerbRow{"ibv_query_port",         "port 1",             0, 0,           [](Things& t) { return query_port(t, 1); }},
    VerbRow{"ibv_query_port",         "port 255",           EINVAL, EINVAL, [](Things& t) { return query_port(t, 255); }},
    VerbRow{"ibv_query_gid",          "port 0",             -1, EINVAL,     [](Things& t) { return query_gid(t, 0, 0); }},
    VerbRow{"ibv_query_gid",          "the last entry",     0, 0,           [](Things& t) { return query_gid(t, 1, t.a.port.gid_tbl_len - 1); }},
    VerbRow{"ibv_query_gid",          "beyond the last",    -1, EINVAL,     [](Things& t) { return query_gid(t, 1, t.a.port.gid_tbl_len); }},
    VerbRow{"ibv_query_gid",          "entry -1",           -1, EINVAL,     [](Things& t) { return query_gid(t, 1, -1); }},
    VerbRow{"ibv_query_gid_ex",       "port 0",             EINVAL, EINVAL, [](Things& t) { return query_gid_ex(t, 0, 0, 0); }},
    VerbRow{"ibv_query_gid_ex",       "an empty entry",     ENODATA, ENODATA, [](Things& t) { return query_gid_ex(t, 1, 1, 0); }},
    VerbRow{"ibv_query_gid_ex",       "flags",              EOPNOTSUPP, EOPNOTSUPP, [](Things& t) { return query_gid_ex(t, 1, 0, 1); }},
    VerbRow{"ibv_query_gid_table",    "without room",       -EINVAL, EINVAL, [](Things& t) { ibv_gid_entry e; return long(ibv_query_gid_table(t.a.context, &e, 0, 0)); }},
    VerbRow{"ibv_query_gid_table",    "flags",              -EOPNOTSUPP, EOPNOTSUPP, [](Things& t) { ibv_gid_entry e; return long(ibv_query_gid_table(t.a.context, &e, 1, 1)); }},
    VerbRow{"ibv_query_pkey",         "the last entry",     0, 0,           [](Things& t) { return query_pkey(t, 1, t.a.port.pkey_tbl_len - 1); }},
    VerbRow{"ibv_query_pkey",         "beyond the last",    -1, EINVAL,     [](Things& t) { return query_pkey(t, 1, t.a.port.pkey_tbl_len); }},
    VerbRow{"ibv_query_pkey",         "entry -1",           -1, EINVAL,     [](Things& t) { return query_pkey(t, 1, -1); }},
    VerbRow{"ibv_query_pkey",         "port 0",             -1, EINVAL,     [](Things& t) { return query_pkey(t, 0, 0); }},
    VerbRow{"ibv_get_pkey_index",     "one that is not",    -1, ENOENT,     [](Things& t) { return long(ibv_get_pkey_index(t.a.context, 1, 0x3412)); }},
    VerbRow{"ibv_get_pkey_index",     "port 0",             -1, EINVAL,     [](Things& t) { return long(ibv_get_pkey_index(t.a.context, 0, 0)); }},
    VerbRow{"ibv_query_rt_values_ex", "the clock",          0, 0,           [](Things& t) { return query_clock(t, IBV_VALUES_MASK_RAW_CLOCK); }},
    VerbRow{"ibv_query_rt_values_ex", "what is not known",  EINVAL, EINVAL, [](Things& t) { return query_clock(t, 2); }},
    // clang-format on
};

// ---- Regions
long reg(Things& t, std::size_t bytes, unsigned access) {
  return made(ibv_reg_mr(t.a.pd, t.a.buffer.data(), bytes, int(access)), ibv_dereg_mr);
}
long reg_at(Things& t, std::uint64_t iova, std::size_t bytes) {
  return made(ibv_reg_mr_iova(t.a.pd, t.a.buffer.data(), bytes, iova, 0), ibv_dereg_mr);
}
// Of nothing mapped.
long reg_gone(Things& t, std::size_t bytes) {
  constexpr std::size_t kPages = 16 * 4096;
  void* const at = mmap(nullptr, kPages, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(at, kPages);
  return made(ibv_reg_mr(t.a.pd, at, bytes, 0), ibv_dereg_mr);
}
long rereg(Things& t, int flags, ibv_pd* pd, void* at, std::size_t bytes, int access) {
  return ibv_rereg_mr(t.plain_mr, flags, pd, at, bytes, access);
}
constexpr int kTranslation = IBV_REREG_MR_CHANGE_TRANSLATION, kPd = IBV_REREG_MR_CHANGE_PD,
              kAccess = IBV_REREG_MR_CHANGE_ACCESS;
constexpr long kBadInput = IBV_REREG_MR_ERR_INPUT, kBadCommand = IBV_REREG_MR_ERR_CMD;
constexpr std::array kRegions{
    // clang-format off
    VerbRow{"ibv_reg_mr",      "no bytes",                       kNothing, EINVAL,     [](Things& t) { return reg(t, 0, 0); }},
    VerbRow{"ibv_reg_mr",      "1 byte",                         kMade, 0,             [](Things& t) { return reg(t, 1, 0); }},
    VerbRow{"ibv_reg_mr",      "all bytes that there could be",  kNothing, EFAULT,     [](Things& t) { return reg(t, ~std::size_t{0}, 0); }},
    VerbRow{"ibv_reg_mr",      "nothing mapped",                 kNothing, EFAULT,     [](Things& t) { return reg_gone(t, 4096); }},
    VerbRow{"ibv_reg_mr",      "all rights",                     kMade, 0,             [](Things& t) { return reg(t, 64, unsigned(kAllAccess)); }},
    VerbRow{"ibv_reg_mr",      "remote write without local",     kNothing, EINVAL,     [](Things& t) { return reg(t, 64, IBV_ACCESS_REMOTE_WRITE); }},
    VerbRow{"ibv_reg_mr",      "remote atomic without local",    kNothing, EINVAL,     [](Things& t) { return reg(t, 64, IBV_ACCESS_REMOTE_ATOMIC); }},
    VerbRow{"ibv_reg_mr",      "a right that is none",           kNothing, EOPNOTSUPP, [](Things& t) { return reg(t, 64, 1 << 19); }},
    VerbRow{"ibv_reg_mr",      "on demand",                      kNothing, EOPNOTSUPP, [](Things& t) { return reg(t, 64, IBV_ACCESS_ON_DEMAND); }},
    VerbRow{"ibv_reg_mr_iova", "address 0",                      kMade, 0,             [](Things& t) { return reg_at(t, 0, 64); }},
    VerbRow{"ibv_reg_mr_iova", "up to the last address",         kMade, 0,             [](Things& t) { return reg_at(t, 0 - std::uint64_t{64}, 64); }},
    VerbRow{"ibv_reg_mr_iova", "beyond it",                      kNothing, EINVAL,     [](Things& t) { return reg_at(t, 0 - std::uint64_t{63}, 64); }},
    VerbRow{"ibv_rereg_mr",    "nothing",                        kBadInput, EINVAL,    [](Things& t) { return rereg(t, 0, nullptr, nullptr, 0, 0); }},
    VerbRow{"ibv_rereg_mr",    "what is not known",              kBadInput, EINVAL,    [](Things& t) { return rereg(t, 8, nullptr, nullptr, 0, 0); }},
    VerbRow{"ibv_rereg_mr",    "no address",                     kBadInput, EINVAL,    [](Things& t) { return rereg(t, kTranslation, nullptr, nullptr, 64, 0); }},
    VerbRow{"ibv_rereg_mr",    "no bytes",                       kBadInput, EINVAL,    [](Things& t) { return rereg(t, kTranslation, nullptr, t.a.buffer.data(), 0, 0); }},
    VerbRow{"ibv_rereg_mr",    "no domain",                      kBadInput, EINVAL,    [](Things& t) { return rereg(t, kPd, nullptr, nullptr, 0, 0); }},
    VerbRow{"ibv_rereg_mr",    "another device's domain",        kBadInput, EINVAL,    [](Things& t) { return rereg(t, kPd, t.b.pd, nullptr, 0, 0); }},
    VerbRow{"ibv_rereg_mr",    "a right that is none",           kBadInput, EOPNOTSUPP, [](Things& t) { return rereg(t, kAccess, nullptr, nullptr, 0, 1 << 19); }},
    VerbRow{"ibv_rereg_mr",    "remote write without local",     kBadCommand, EINVAL,  [](Things& t) { return rereg(t, kAccess, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE); }},
    VerbRow{"ibv_rereg_mr",    "all three",                      0, 0,                 [](Things& t) { return rereg(t, kTranslation | kPd | kAccess, t.a.pd, t.a.buffer.data(), 64, IBV_ACCESS_LOCAL_WRITE); }},
    // clang-format on
};

// ---- Windows of type 1: ibv_bind_mw()
long bind(Things& t, ibv_qp* qp, ibv_mw* mw, ibv_mr* mr, unsigned flags, unsigned access) {
  ibv_mw_bind bind{};
  bind.send_flags = flags;
  if (mr) bind.bind_info = {mr, reinterpret_cast<std::uintptr_t>(t.a.buffer.data()), 8, access};
  return ibv_bind_mw(qp, mw, &bind);
}
constexpr std::array kWindows{
    // clang-format off
    VerbRow{"ibv_alloc_mw", "type 0",                    kNothing, EINVAL, [](Things& t) { return made(ibv_alloc_mw(t.a.pd, ibv_mw_type(0)), ibv_dealloc_mw); }},
    VerbRow{"ibv_alloc_mw", "type 1",                    kMade, 0,         [](Things& t) { return made(ibv_alloc_mw(t.a.pd, IBV_MW_TYPE_1), ibv_dealloc_mw); }},
    VerbRow{"ibv_alloc_mw", "type 2",                    kMade, 0,         [](Things& t) { return made(ibv_alloc_mw(t.a.pd, IBV_MW_TYPE_2), ibv_dealloc_mw); }},
    VerbRow{"ibv_alloc_mw", "type 3",                    kNothing, EINVAL, [](Things& t) { return made(ibv_alloc_mw(t.a.pd, ibv_mw_type(3)), ibv_dealloc_mw); }},
    VerbRow{"ibv_bind_mw",  "in Reset",                  EINVAL, EINVAL,   [](Things& t) { return bind(t, t.reset, t.type_1, t.a.mr, 0, 0); }},
    VerbRow{"ibv_bind_mw",  "in Init",                   EINVAL, EINVAL,   [](Things& t) { return bind(t, t.init, t.type_1, t.a.mr, 0, 0); }},
    VerbRow{"ibv_bind_mw",  "by UD",                     EINVAL, EINVAL,   [](Things& t) { return bind(t, t.ud, t.type_1, t.a.mr, 0, 0); }},
    VerbRow{"ibv_bind_mw",  "of type 2",                 EINVAL, 0,        [](Things& t) { return bind(t, t.rts, t.type_2, t.a.mr, 0, 0); }},
    VerbRow{"ibv_bind_mw",  "solicited",                 EINVAL, EINVAL,   [](Things& t) { return bind(t, t.rts, t.type_1, t.a.mr, IBV_SEND_SOLICITED, 0); }},
    VerbRow{"ibv_bind_mw",  "inline",                    EINVAL, EINVAL,   [](Things& t) { return bind(t, t.rts, t.type_1, t.a.mr, IBV_SEND_INLINE, 0); }},
    VerbRow{"ibv_bind_mw",  "zero-based",                EINVAL, EINVAL,   [](Things& t) { return bind(t, t.rts, t.type_1, t.a.mr, 0, IBV_ACCESS_ZERO_BASED); }},
    VerbRow{"ibv_bind_mw",  "a region of another domain", EPERM, 0,        [](Things& t) { return bind(t, t.rts, t.type_1, t.other_mr, 0, 0); }},
    VerbRow{"ibv_bind_mw",  "a region of another device", EPERM, 0,        [](Things& t) { return bind(t, t.rts, t.type_1, t.b.mr, 0, 0); }},
    VerbRow{"ibv_bind_mw",  "by another device",         EINVAL, EINVAL,   [](Things& t) { return bind(t, t.peer, t.type_1, t.a.mr, 0, 0); }},
    VerbRow{"ibv_bind_mw",  "to nothing",                0, 0,             [](Things& t) { return bind(t, t.rts, t.type_1, nullptr, 0, 0); }},
    // clang-format on
};

// ---- Address handles, groups
long path_of(Things& t, void (*change)(Things&, ibv_ah_attr&)) {
  ibv_ah_attr path = address_of(t.b);
  change(t, path);
  return made(ibv_create_ah(t.a.pd, &path), ibv_destroy_ah);
}
long group_of(ibv_qp* qp, unsigned char first,
              int (*call)(ibv_qp*, const ibv_gid*, std::uint16_t)) {
  ibv_gid gid{};
  gid.raw[0] = first, gid.raw[1] = 0x12, gid.raw[15] = 9;
  return call(qp, &gid, 0xc001);
}
constexpr std::array kPaths{
    // clang-format off
    VerbRow{"ibv_create_ah",    "port 0",                 kNothing, EINVAL, [](Things& t) { return path_of(t, [](Things&, auto& p) { p.port_num = 0; }); }},
    VerbRow{"ibv_create_ah",    "a port beyond the last", kNothing, EINVAL, [](Things& t) { return path_of(t, [](Things& u, auto& p) { p.port_num = std::uint8_t(u.a.device.phys_port_cnt + 1); }); }},
    VerbRow{"ibv_create_ah",    "service level 15",       kMade, 0,         [](Things& t) { return path_of(t, [](Things&, auto& p) { p.sl = 15; }); }},
    VerbRow{"ibv_create_ah",    "service level 16",       kNothing, EINVAL, [](Things& t) { return path_of(t, [](Things&, auto& p) { p.sl = 16; }); }},
    VerbRow{"ibv_create_ah",    "a GID beyond the table", kNothing, EINVAL, [](Things& t) { return path_of(t, [](Things& u, auto& p) { p.is_global = 1, p.grh.dgid = u.b.gid, p.grh.sgid_index = std::uint8_t(u.a.port.gid_tbl_len); }); }},
    VerbRow{"ibv_create_ah",    "a rate that is none",    kNothing, EINVAL, [](Things& t) { return path_of(t, [](Things&, auto& p) { p.static_rate = 200; }); }},
    VerbRow{"ibv_attach_mcast", "an RC queue pair",       EINVAL, EINVAL,   [](Things& t) { return group_of(t.rts, 0xff, ibv_attach_mcast); }},
    VerbRow{"ibv_attach_mcast", "a unicast GID",          EINVAL, EINVAL,   [](Things& t) { return group_of(t.ud, 0xfe, ibv_attach_mcast); }},
    VerbRow{"ibv_detach_mcast", "one that is none of it", EINVAL, EINVAL,   [](Things& t) { return group_of(t.ud, 0xff, ibv_detach_mcast); }},
    // clang-format on
};

// ---- What others are made of
constexpr std::array kBusy{
    // clang-format off
    VerbRow{"ibv_dealloc_pd",           "with objects",         EBUSY, EBUSY, [](Things& t) { return long(ibv_dealloc_pd(t.a.pd)); }},
    VerbRow{"ibv_dealloc_pd",           "with a region",        EBUSY, EBUSY, [](Things& t) { return long(ibv_dealloc_pd(t.other_pd)); }},
    VerbRow{"ibv_destroy_cq",           "with queue pairs",     EBUSY, EBUSY, [](Things& t) { return long(ibv_destroy_cq(t.a.cq)); }},
    VerbRow{"ibv_destroy_comp_channel", "with a CQ",            EBUSY, EBUSY, [](Things& t) { return long(ibv_destroy_comp_channel(t.channel)); }},
    VerbRow{"ibv_destroy_srq",          "with a queue pair",    EBUSY, EBUSY, [](Things& t) {
               ibv_qp* const qp = t.a.make_qp(IBV_QPT_RC, t.srq);
               const int error = ibv_destroy_srq(t.srq), set = errno;
               ibv_destroy_qp(qp);
               errno = set;
               return long(error); }},
    VerbRow{"ibv_destroy_qp",           "in a multicast group", EBUSY, EBUSY, [](Things& t) {
               group_of(t.ud, 0xff, ibv_attach_mcast);
               const int error = ibv_destroy_qp(t.ud), set = errno;
               group_of(t.ud, 0xff, ibv_detach_mcast);
               errno = set;
               return long(error); }},
    // clang-format on
};
}  // namespace

void check_object_verbs(Things& things) {
  walk(things, kQueries);
  walk(things, kRegions);
  walk(things, kWindows);
  walk(things, kPaths);
  walk(things, kBusy);
}
}  // namespace cases
