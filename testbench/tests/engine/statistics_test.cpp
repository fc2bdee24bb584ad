// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "model/engine/counters.h"
#include "model/engine/histogram.h"
#include "model/engine/probe.h"

using namespace hca;
using namespace hca::engine;

namespace {
struct PortCounters {
  u64 packets = 0, bytes = 0;
};
enum class PortKind : u8 { Sent, Dropped };
constexpr std::array<std::string_view, 2> kPortKinds{"sent", "dropped"};
}  // namespace

template <>
struct hca::engine::Counters<PortCounters> {
  static constexpr std::string_view block = "port";
  static constexpr auto rows =
      make_rows(counter("packets", &PortCounters::packets, "packets", "packets put on the wire"),
                counter("bytes", &PortCounters::bytes, "bytes", "their bytes with framing"));
};

TEST_CASE("percentiles are the nearest ranks", "[engine][histogram]") {
  Histogram h;
  for (u64 value = 1000; value >= 1; --value) h.add(value);
  CHECK(h.count() == 1000);
  CHECK(h.percentile(50) == 500u);  // rank 500 of 1 .. 1000
  CHECK(h.percentile(90) == 900u);
  CHECK(h.percentile(98.95) == 990u);  // rank 989.5, up
  CHECK(h.percentile(99) == 990u);
  CHECK(h.percentile(1.1) == 11u);
  CHECK(h.min() == 1u);
  CHECK(h.max() == 1000u);
  CHECK(h.mean() == 500.5);
}

TEST_CASE("a percentile with fewer than 10 samples beyond it is blank", "[engine][histogram]") {
  Histogram h;
  for (u64 value = 1; value <= 999; ++value) h.add(value);
  CHECK(h.beyond(99) == 9);  // rank 990 (989.01, up) of 999
  CHECK_FALSE(h.percentile(99));
  h.add(1000);
  CHECK(h.beyond(99) == 10);
  CHECK(h.percentile(99) == 990u);
  CHECK_FALSE(h.percentile(99.9));
  CHECK_FALSE(h.percentile(100));
  CHECK(h.beyond(1) == 9);  // nine samples before rank 10
  CHECK_FALSE(h.percentile(1));
  CHECK_FALSE(h.percentile(0));
}

TEST_CASE("p99.9 of 10000 samples is the 9990th, not the 9991st", "[engine][histogram]") {
  Histogram h;
  for (u64 value = 1; value <= 10'000; ++value) h.add(value * 3);
  CHECK(h.percentile(99.9) == 3 * 9990u);
  CHECK(h.beyond(99.9) == 10);
}

TEST_CASE("a histogram loses nothing: large values, many of one value, merging",
          "[engine][histogram]") {
  Histogram h, more;
  h.add(~u64{0});
  h.add(7, 20);
  more.add(7, 5), more.add(8, 30);
  h.merge(more);
  CHECK(h.count() == 56);
  CHECK(h.sorted() == std::vector<std::pair<u64, u64>>{{7, 25}, {8, 30}, {~u64{0}, 1}});
  CHECK(h.percentile(40) == 7u);  // rank 23
  CHECK(h.percentile(50) == 8u);  // rank 28
  CHECK(Histogram().percentile(50) == std::nullopt);
  CHECK(Histogram().min() == std::nullopt);
  CHECK(Histogram().mean() == std::nullopt);
}

TEST_CASE("counters are walked with name, unit, sentence and value", "[engine][counters]") {
  PortCounters counters{3, 400};
  std::string text;
  for_each_counter(counters, [&](const auto& row, u64& value) {
    text +=
        std::string(row.name) + " " + std::to_string(value) + " " + std::string(row.unit) + "; ";
  });
  CHECK(Counters<PortCounters>::block == "port");
  CHECK(text == "packets 3 packets; bytes 400 bytes; ");
  PortCounters sum{1, 1};
  add_counters(sum, counters);
  CHECK(sum.packets == 4);
  CHECK(sum.bytes == 401);
}

TEST_CASE("probe events reach all sinks, in order, and none when no sink is there",
          "[engine][probe]") {
  ProbeHub hub;
  const Probe port = hub.add("port", kPortKinds), dma = hub.add("dma");
  RecordingSink first, second;
  Probe().event(1, PortKind::Sent);  // connected to nothing
  CHECK_FALSE(port.attached());
  port.event(1, PortKind::Sent, 1);
  hub.attach(first);
  port.event(2, PortKind::Dropped, 5, 6, 7);
  hub.attach(second);
  dma.event(3, PortKind::Sent);
  hub.detach(first);
  port.event(4, PortKind::Sent);
  CHECK(first.events == std::vector<Event>{{2, 0, 1, 5, 6, 7}, {3, 1, 0, 0, 0, 0}});
  CHECK(second.events == std::vector<Event>{{3, 1, 0, 0, 0, 0}, {4, 0, 0, 0, 0, 0}});
  CHECK(hub.name(1) == "dma");
  CHECK(hub.kind_name(first.events[0]) == "dropped");
  CHECK(hub.kind_name(first.events[1]) == "");
}

TEST_CASE("a sink gets the events of the blocks that it wants, whenever they are added",
          "[engine][probe]") {
  struct OfDma final : RecordingSink {
    bool wants(std::string_view block) const override { return block == "dma"; }
  } of_dma;
  ProbeHub hub;
  const Probe port = hub.add("port", kPortKinds), dma = hub.add("dma");
  hub.attach(of_dma);
  CHECK_FALSE(port.attached());
  const Probe other = hub.add("port", kPortKinds), late = hub.add("dma");
  port.event(1, PortKind::Sent);
  dma.event(2, PortKind::Sent);
  other.event(3, PortKind::Sent);
  late.event(4, PortKind::Sent);
  RecordingSink all;
  hub.attach(all);
  port.event(5, PortKind::Sent);
  hub.detach(all);
  CHECK_FALSE(port.attached());
  CHECK(dma.attached());
  CHECK(of_dma.events == std::vector<Event>{{2, 1, 0, 0, 0, 0}, {4, 3, 0, 0, 0, 0}});
  CHECK(all.events == std::vector<Event>{{5, 0, 0, 0, 0, 0}});
}

TEST_CASE("the run's hash sees each number of an event but not the order of blocks",
          "[engine][probe]") {
  const auto digest = [](std::vector<Event> events) {
    DigestSink sink;
    for (const Event& e : events) sink.event(e);
    return sink.value();
  };
  const Event a{5, 0, 1, 2, 3, 4}, b{5, 1, 1, 2, 3, 4}, c{6, 0, 1, 2, 3, 4};
  const u64 wanted = digest({a, b, c});
  CHECK(digest({b, a, c}) == wanted);
  CHECK(digest({a, c, b}) == wanted);
  CHECK(digest({c, b, a}) != wanted);  // two events of one block
  CHECK(digest({a, b}) != wanted);
  for (const Event& other :
       {Event{7, 0, 1, 2, 3, 4}, Event{6, 1, 1, 2, 3, 4}, Event{6, 0, 2, 2, 3, 4},
        Event{6, 0, 1, 3, 3, 4}, Event{6, 0, 1, 2, 2, 4}, Event{6, 0, 1, 2, 3, 5}})
    CHECK(digest({a, b, other}) != wanted);
}
