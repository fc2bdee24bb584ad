// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/qp_context.h"

#include <catch2/catch.hpp>

using namespace hca::blocks;

TEST_CASE("a look-up of a context answers after its latency", "[qp_context]") {
  const hca::device::Contexts contexts;
  QpContext context({.latency = 2, .interval = 3}, contexts);
  CHECK(context.look_up(context.requester, 10, 1) == 10 + 2);
  CHECK(context.look_up(context.requester, 12, 1) == 13 + 2);  // blocked in 12
  CHECK(context.look_up(context.requester, 16, 1) == 16 + 2);  // ready in 16
  CHECK(context.counters.lookups == 3);
}

TEST_CASE("a port of the context does not see the others", "[qp_context]") {
  const hca::device::Contexts contexts;
  QpContext context({.latency = 2, .interval = 3}, contexts);
  for (ReadPort* port : {&context.requester, &context.responder[0], &context.response[0],
                         &context.responder[1], &context.response[1]})
    CHECK(context.look_up(*port, 10, 1) == 12);
}
