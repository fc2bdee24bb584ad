// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/types.h"

namespace hca::device {
struct ObjectLimits {
  u32 qps = 1 << 16;      // QP numbers are below this
  u32 cqs = 1 << 16;      // CQ numbers
  u32 eqs = 64;           // EQ numbers
  u32 regions = 1 << 20;  // key indices
  u32 srqs = 1 << 16;     // SRQ numbers
  u32 pds = 1 << 16;      // PD numbers
  u32 vectors = 64;       // interrupt vectors
  u32 ports = 1;
  u32 xrc_domains = 1 << 16;
  u32 rd_domains = 1 << 16;
  u32 ee_contexts = 1 << 16;  // EE context numbers
  u32 first_qp = 2;           // QP numbers below are reserved for management (QPS-1)
  u32 multicast_members = 1024;
};
}  // namespace hca::device
