// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/qp_context.h"

#include <catch2/catch.hpp>

using namespace hca::blocks;
using Port = QpContext::Port;

TEST_CASE("a look-up of a context answers after its latency", "[qp_context]") {
  QpContext context({.latency = 2, .interval = 3});
  CHECK(context.look_up(Port::Requester, 10, 1) == 10 + 2);
  CHECK(context.look_up(Port::Requester, 12, 1) == 13 + 2);  // blocked in 12
  CHECK(context.look_up(Port::Requester, 16, 1) == 16 + 2);  // ready in 16
  CHECK(context.counters.lookups == 3);
}

TEST_CASE("a port of the context does not see the others", "[qp_context]") {
  QpContext context({.latency = 2, .interval = 3});
  for (const Port port : {Port::Requester, Port::Responder, Port::Response})
    CHECK(context.look_up(port, 10, 1) == 12);
}
