// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "testbench/trace/wire_capture.h"

using namespace hca;
using namespace hca::testbench;

namespace {
// Frames of one byte each; what left is "time:byte" in order.
struct Order {
  std::string left;
  FramesByTime frames{[this](u64 at, u32, std::span<const u8> frame) {
    left += std::to_string(at) + ":" + char(frame[0]) + " ";
  }};
  void add(u64 at, u8 sender, char name) {
    const u8 byte = u8(name);
    frames.add(at, sender, {&byte, 1});
  }
};
}  // namespace

TEST_CASE("frames of both ends leave by the time of their first bit", "[captures]") {
  Order order;
  order.add(300, 0, 'a'), order.add(100, 0, 'b');  // one end ran ahead
  order.add(200, 1, 'c');                          // the other reports later what came earlier
  CHECK(order.left == "");
  order.frames.hand_on_until(200);
  CHECK(order.left == "100:b ");
  order.add(200, 1, 'd');  // at the kernel's time itself, so still allowed
  order.frames.hand_on_until(1000);
  CHECK(order.left == "100:b 200:c 200:d 300:a ");
  CHECK(order.frames.waiting() == 0);
}

TEST_CASE("frames of the same time leave in the order of their senders", "[captures]") {
  Order order;
  order.add(100, 1, 'c'), order.add(100, 0, 'a'), order.add(100, 1, 'd'), order.add(100, 0, 'b');
  order.frames.hand_on_until(101);
  CHECK(order.left == "100:a 100:b 100:c 100:d ");
}
