// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/run_limits.h"

#include <catch2/catch.hpp>

namespace hca::testbench {
namespace {
std::string names_of_limits(const std::vector<Use>& uses) {
  std::string names;
  for (const Use& use : limits_of(uses)) names += (names.empty() ? "" : ", ") + use.name;
  return names;
}
}  // namespace

TEST_CASE("what limits, from the shares of what is busy and of what is waited for", "[limits]") {
  CHECK(names_of_limits({}).empty());
  CHECK(names_of_limits({{"link", "link", 0.79}, {"tags", "tags", 0.5}}).empty());
  CHECK(names_of_limits({{"link", "link", 0.81}}) == "link");
  // Buffers before a link without time fill up.
  CHECK(names_of_limits({{"buffers", "buffers", 1.0}, {"link", "link", 0.96}}) == "link");
  // With time left it is not the link.
  CHECK(names_of_limits({{"buffers", "buffers", 1.0}, {"link", "link", 0.85}}) == "buffers");
  CHECK(names_of_limits({{"buffers", "buffers", 0.9}, {"link", "link", 0.85}}) == "buffers, link");
  // Of what waits the one that is furthest inside.
  CHECK(names_of_limits(
            {{"turns", "turns", 1.0}, {"buffers", "buffers", 0.99}, {"tags", "tags", 0.9}}) ==
        "tags");
  // Tags that are in use, and waited for half of the time, are no more than enough.
  CHECK(names_of_limits({{"depth", "depth", 1.0},
                         {"buffers", "buffers", 0.98},
                         {"tags", "tags", 0.99, "", 0.5}}) == "tags, buffers");
  CHECK(names_of_limits({{"line up", "PCIe", 0.97}, {"line down", "PCIe", 0.98}}) ==
        "line down, line up");
  CHECK(names_of_limits({{"line up", "PCIe", 0.85}, {"line down", "PCIe", 0.98}}) == "line down");
}

TEST_CASE("messages in flight limit where nothing inside explains them", "[limits]") {
  CHECK(names_of_limits({{"depth", "depth", 0.85}}) == "depth");
  // Most of the time they wait for the timers.
  CHECK(names_of_limits({{"depth", "depth", 0.85}, {"timers", "time", 0.7}}) == "timers");
  CHECK(names_of_limits({{"depth", "depth", 0.85}, {"timers", "time", 0.4}}) == "depth");
  // Nothing else is near.
  CHECK(names_of_limits({{"depth", "depth", 0.3}, {"core", "cores", 0.75}}) == "depth");
  CHECK(names_of_limits({{"depth", "depth", 0.1}, {"core", "cores", 0.75}}).empty());
  // It is full now and then; most of the time messages wait for buffers.
  CHECK(names_of_limits({{"depth", "depth", 0.27}, {"buffers", "buffers", 0.77}}) == "buffers");
  CHECK(names_of_limits({{"depth", "depth", 0.1}, {"buffers", "buffers", 0.77}}) == "buffers");
  CHECK(names_of_limits({{"depth", "depth", 0.6}, {"buffers", "buffers", 0.55}}) == "depth");
  CHECK(names_of_limits({{"depth", "depth", 0.1}, {"buffers", "buffers", 0.45}}).empty());
}

TEST_CASE("offered load limits where it is achieved, and what is near stands beside it",
          "[limits]") {
  CHECK(names_of_limits({{"load", "load", 0.99}, {"core", "cores", 0.85}}) == "load, core");
  CHECK(names_of_limits({{"load", "load", 0.99}, {"core", "cores", 0.5}}) == "load");
  CHECK(names_of_limits({{"load", "load", 0.96}, {"core", "cores", 1.0}}) == "core, load");
  CHECK(names_of_limits({{"load", "load", 0.94}, {"core", "cores", 1.0}}) == "core");
  CHECK(names_of_limits({{"load", "load", 0.90}}).empty());
}

TEST_CASE("every row that may limit has a kind", "[limits]") {
  for (const WaitRow& row : kWaitRows) CHECK(limit_kind(row.kind).inside > 0);
  CHECK(wait_row("port1_link_control", "waits_pause: until")->name == "pause of the peer");
  CHECK(wait_row("requester", "packet buffers of port 2")->kind == "buffers");
  CHECK(wait_row("requester", "turns") == nullptr);
  CHECK(wait_row("requester", "lane 3's packet buffers of port 2")->knob ==
        "packetizer.lane_buffers, buffer_bytes");
  CHECK(wait_row("responder_execute", "lane 0's response buffers")->knob ==
        "responder_execute.lane_responses, response_bytes");
  CHECK(wait_row_of_counter("requester", "waits_rnr")->kind == "time");
  CHECK(wait_row_of_counter("mpt_cache", "waited") == nullptr);
  CHECK_THROWS_AS(wait_row_of_counter("requester", "waits_new"), std::logic_error);
}
}  // namespace hca::testbench
