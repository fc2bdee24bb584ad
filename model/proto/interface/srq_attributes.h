// SPDX-License-Identifier: Apache-2.0
// The attributes in commands on shared receive queues and XRC domains.
#pragma once
#include "model/proto/wire/layout.h"

namespace hca::proto {
struct SrqAttributes {  // CreateSrq, ModifySrq, QuerySrq
  u32 pd = 0;
  u8 port = 1;
  u64 address = 0;
  u8 log_entries = 0, log_stride = 5;
  u32 limit = 0;
  u64 context = 0;
  u8 mask = 0;            // ModifySrq
  u32 xrcd = 0, cqn = 0;  // SRQ of XRC (G23.5)
  // Read only.
  u32 posted = 0, taken = 0, uses = 0;
};
enum SrqMask : u8 { kSrqLimit = 1, kSrqRing = 2 };
template <>
struct Layout<SrqAttributes> {
  using A = SrqAttributes;
  static constexpr std::string_view name = "SRQ attributes";
  static constexpr auto fields = make_rows(
      field(&A::port, "Port", 8, "of its queue pairs"),
      field(&A::pd, "PD", 24, "of the buffers that its WQEs name"),
      field(&A::mask, "Mask", 8, "ModifySrq: 1 Limit, 2 Address and Log"),
      field(&A::log_entries, "Log", 8, "WQE slots as a power of two"),
      field(&A::log_stride, "Stride", 8, "bytes of a slot as a power of two, 5 to 8"), unused(8),
      field(&A::address, "Address", 64, "of the ring"),
      field(&A::limit, "Limit", 32,
            "fewer WQEs than this raise SRQ_LIMIT_REACHED once, and Limit becomes 0; 0: never"),
      field(&A::uses, "Uses", 32, "queried: queue pairs"),
      field(&A::context, "Context", 64, "chosen by the host, returned in asynchronous EQEs"),
      field(&A::posted, "Posted", 32, "queried: WQEs posted"),
      field(&A::taken, "Taken", 32, "queried: WQEs taken by queue pairs"), unused(8),
      field(&A::xrcd, "XRCD", 24, "domain of an SRQ of XRC; 0: not an SRQ of XRC"), unused(8),
      field(&A::cqn, "CQN", 24, "CQ for the WQEs of an SRQ of XRC"));
};

// The queue pairs and SRQs of a domain work together, even those of several processes (G24.1).
struct XrcDomainAttributes {  // AllocXrcd, QueryXrcd
  u32 pd = 0;
  u32 uses = 0;  // read only
};
template <>
struct Layout<XrcDomainAttributes> {
  using A = XrcDomainAttributes;
  static constexpr std::string_view name = "XRC domain attributes";
  static constexpr auto fields =
      make_rows(unused(8),
                field(&A::pd, "PD", 24,
                      "PD for the R_Keys of requests if xrc_pd is tgt_domain; 0: no key is valid"),
                field(&A::uses, "Uses", 32, "queried: SRQs and target queue pairs"));
};

// ---- RD: its domains, and its EE contexts (ModifyEec and QueryEec have QP attributes)
struct RdDomainAttributes {  // QueryRdd
  u32 uses = 0;              // read only
};
template <>
struct Layout<RdDomainAttributes> {
  static constexpr std::string_view name = "RD domain attributes";
  static constexpr auto fields = make_rows(
      field(&RdDomainAttributes::uses, "Uses", 32, "queried: queue pairs and EE contexts"));
};
struct EecCreate {  // CreateEec
  u64 context = 0;
};
template <>
struct Layout<EecCreate> {
  static constexpr std::string_view name = "EE context creation";
  static constexpr auto fields = make_rows(field(
      &EecCreate::context, "Context", 64, "chosen by the host, returned in asynchronous EQEs"));
};
}  // namespace hca::proto
