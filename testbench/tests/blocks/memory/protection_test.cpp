// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/protection.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

TEST_CASE("an access is judged after the latency of protection", "[protection]") {
  device::Contexts contexts;
  Protection protection({.latency = 2, .interval = 3}, contexts);
  CHECK(protection.look_up(protection.execute, 10, kKey) == 10 + 2);
  CHECK(protection.look_up(protection.execute, 12, kKey) == 13 + 2);  // blocked in 12
  CHECK(protection.look_up(protection.execute, 16, kKey) == 16 + 2);  // ready in 16
  CHECK(protection.look_up(protection.responder[0], 10, kKey) == 10 + 2);
  CHECK(protection.look_up(protection.requester, 10, kKey) == 10 + 2);
}

TEST_CASE("a local access outside of its region, its PD or its rights is refused",
          "[protection][G22.4]") {
  device::Contexts contexts;
  set_up(contexts, 1);
  Protection protection({}, contexts);
  const u64 bytes = kMemoryBytes - kData;
  proto::QpConfig qp = contexts.qps[1], other = qp;
  other.pd = 2;
  CHECK(protection.local({kData, kKey, u32(bytes)}, accessor_of(qp), qp, proto::kLocalWrite));
  CHECK_FALSE(
      protection.local({kData, kKey, u32(bytes + 1)}, accessor_of(qp), qp, proto::kLocalWrite));
  CHECK_FALSE(protection.local({kData, kKey, 8}, accessor_of(other), other, proto::kLocalWrite));
  CHECK_FALSE(protection.local({kData, kKey + 1, 8}, accessor_of(qp), qp, proto::kLocalWrite));
  CHECK_FALSE(
      protection.local({0, proto::kReservedLkey, 8}, accessor_of(qp), qp, proto::kLocalWrite));
  CHECK(protection.counters.refused == 4);
  qp.privileged = true;
  CHECK(protection.local({0, proto::kReservedLkey, 8}, accessor_of(qp), qp, proto::kLocalWrite));
}
