// SPDX-License-Identifier: Apache-2.0
// The attributes in commands on shared receive queues.
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
  u8 mask = 0;  // ModifySrq
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
      field(&A::taken, "Taken", 32, "queried: WQEs taken by queue pairs"));
};
}  // namespace hca::proto
