// SPDX-License-Identifier: Apache-2.0
#include "model/engine/knob.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/engine/cycle.h"

using namespace hca;
using namespace hca::engine;

namespace {
enum class Forward { Store, CutThrough };
constexpr std::array<std::string_view, 2> kForwardNames{"store", "cut_through"};

struct TestConfig {
  Cycle latency = 2;
  unsigned depth = 4;
  u64 rate = 100'000'000'000, clock = 402'830'000, timeout = 1'500'000;
  u32 mtu = 4096;
  bool coalesce = true;
  Forward rx_forward = Forward::Store;
};
}  // namespace

template <>
struct hca::engine::Knobs<TestConfig> {
  static constexpr std::string_view block = "unit";
  static constexpr std::string_view sentence = "one knob of each kind";
  static constexpr auto rows = make_rows(
      knob("latency", &TestConfig::latency, Unit::Cycles, 1, 1000, "from its input to its output"),
      knob("depth", &TestConfig::depth, Unit::Count, 1, 64, "entries"),
      knob("rate", &TestConfig::rate, Unit::BitsPerSecond, 1'000'000, 1'600'000'000'000,
           "of the wire"),
      knob("clock", &TestConfig::clock, Unit::Hertz, 1'000'000, 5'000'000'000, "of the chip"),
      knob("timeout", &TestConfig::timeout, Unit::Picoseconds, 0, ~u64{0}, "until a retry"),
      knob("mtu", &TestConfig::mtu, Unit::Bytes, 256, 4096, "largest payload of a packet"),
      knob("coalesce", &TestConfig::coalesce, "several replies become one"),
      knob("rx_forward", &TestConfig::rx_forward, kForwardNames, "when payload is written"));
};

namespace {
std::string error(std::string_view name, std::string_view text) {
  TestConfig config;
  try {
    set_knob(config, name, text);
  } catch (const ConfigError& e) {
    for_each_knob(config, [](const auto& knob) {  // nothing was changed
      TestConfig untouched;
      CHECK(knob_text(untouched, knob.info.name) == knob.text());
    });
    return e.what();
  }
  return "accepted as " + knob_text(config, name);
}

u64 value(std::string_view name, std::string_view text) {
  TestConfig config;
  set_knob(config, name, text);
  u64 found = 0;
  for_each_knob(config, [&](const auto& knob) {
    if (knob.info.name == name) found = knob.value();
  });
  return found;
}
}  // namespace

TEST_CASE("text becomes exact values", "[engine][knob]") {
  CHECK(value("latency", "12 cycles") == 12);
  CHECK(value("latency", "1 cycle") == 1);
  CHECK(value("depth", "64") == 64);
  CHECK(value("depth", " 8 ") == 8);
  CHECK(value("depth", "8.0") == 8);
  CHECK(value("rate", "100 Gb/s") == 100'000'000'000);
  CHECK(value("rate", "1.6 Tb/s") == 1'600'000'000'000);
  CHECK(value("rate", "100000000001 b/s") == 100'000'000'001);
  CHECK(value("clock", "250 MHz") == 250'000'000);
  CHECK(value("clock", "402.83 MHz") == 402'830'000);
  CHECK(value("clock", "0.40283GHz") == 402'830'000);
  CHECK(value("timeout", "2 us") == 2'000'000);
  CHECK(value("timeout", "4.294967296 s") == 4'294'967'296'000);
  CHECK(value("timeout", "0.001 ns") == 1);
  CHECK(value("timeout", "0 ps") == 0);
  CHECK(value("timeout", "2.0000000000000000000000000 us") == 2'000'000);
  CHECK(value("timeout", "18446744073709551615 ps") == ~u64{0});
  CHECK(value("mtu", "4 KiB") == 4096);
  CHECK(value("mtu", "1 kB") == 1000);
  CHECK(value("mtu", "0.5 KiB") == 512);
  CHECK(value("coalesce", "false") == 0);
  CHECK(value("rx_forward", "cut_through") == 1);
}

TEST_CASE("each bad text is refused with knob, value, reason, range and the nearest name",
          "[engine][knob]") {
  const char *latency = "; allowed: 1 cycle .. 1000 cycles", *depth = "; allowed: 1 .. 64",
             *rate = "; allowed: 1 Mb/s .. 1.6 Tb/s", *mtu = "; allowed: 256 B .. 4 KiB";
  // Range.
  CHECK(error("latency", "0 cycles") ==
        std::string("unit.latency: \"0 cycles\" is out of range") + latency);
  CHECK(error("latency", "1001 cycles") ==
        std::string("unit.latency: \"1001 cycles\" is out of range") + latency);
  CHECK(error("depth", "65") == std::string("unit.depth: \"65\" is out of range") + depth);
  CHECK(error("depth", "4294967300") ==
        std::string("unit.depth: \"4294967300\" is out of range") + depth);
  CHECK_THAT(error("timeout", "18446744073709551616 ps"), Catch::Contains("is out of range"));
  CHECK_THAT(error("timeout", "99999999999999999999 s"), Catch::Contains("is out of range"));
  CHECK(error("depth", "999999999999999999999999999999999999999999") ==
        std::string(
            "unit.depth: \"999999999999999999999999999999999999999999\" has too many digits") +
            depth);
  // Units.
  CHECK(error("latency", "12") ==
        std::string("unit.latency: \"12\" has no unit; write it as \"12 cycles\" (cycles, cycle)") +
            latency);
  CHECK(error("rate", "100") == std::string("unit.rate: \"100\" has no unit; write it as \"100 "
                                            "Gb/s\" (b/s, kb/s, Mb/s, Gb/s, Tb/s)") +
                                    rate);
  CHECK(error("rate", "100 gb/s") == std::string("unit.rate: \"100 gb/s\" has the unknown unit "
                                                 "\"gb/s\" (known: b/s, kb/s, Mb/s, Gb/s, Tb/s)") +
                                         rate + "; did you mean \"Gb/s\"?");
  CHECK_THAT(error("rate", "100 GB/s"), Catch::Contains("unknown unit \"GB/s\""));
  CHECK_THAT(error("timeout", "2 MHz"),
             Catch::Contains("unknown unit \"MHz\" (known: ps, ns, us, ms, s)"));
  CHECK_THAT(error("mtu", "4 KB"),
             Catch::Contains("unknown unit \"KB\"") && Catch::EndsWith("did you mean \"kB\"?"));
  CHECK(error("depth", "4 B") ==
        std::string("unit.depth: \"4 B\" has a unit, but \"depth\" is a plain count") + depth);
  // Numbers.
  CHECK(error("depth", "010") ==
        std::string("unit.depth: \"010\" looks octal; write it without leading zeros") + depth);
  CHECK_THAT(error("mtu", "0400 B"), Catch::Contains("looks octal"));
  CHECK_THAT(error("depth", "0x10"), Catch::Contains("is not decimal; write it without 0x or 0o"));
  CHECK_THAT(error("depth", "0o10"), Catch::Contains("is not decimal; write it without 0x or 0o"));
  CHECK_THAT(error("depth", "1_0"), Catch::Contains("is not a plain decimal number"));
  CHECK_THAT(error("depth", "1:30"), Catch::Contains("is not a plain decimal number"));
  CHECK_THAT(error("depth", "1,5"), Catch::Contains("is not a plain decimal number"));
  CHECK_THAT(error("depth", "1.5.1"), Catch::Contains("is not a plain decimal number"));
  CHECK_THAT(error("rate", "1e9 b/s"),
             Catch::Contains("has an exponent; write all digits or a larger unit"));
  CHECK_THAT(error("depth", "4."), Catch::Contains("has a point without digits after it"));
  CHECK(error("depth", "-4") ==
        std::string("unit.depth: \"-4\" is not a number such as \"12\"") + depth);
  CHECK_THAT(error("depth", "four"), Catch::Contains("is not a number such as \"12\""));
  CHECK_THAT(error("rate", ".inf"), Catch::Contains("is not a number such as \"100 Gb/s\""));
  CHECK(error("depth", "1.5") == std::string("unit.depth: \"1.5\" is not a whole number") + depth);
  CHECK_THAT(error("timeout", "0.5 ps"), Catch::Contains("is not a whole number of ps"));
  CHECK_THAT(error("timeout", "0.0001 ns"), Catch::Contains("is not a whole number of ps"));
  CHECK_THAT(error("mtu", "0.3 KiB"), Catch::Contains("is not a whole number of B"));
  CHECK(error("mtu", "") == std::string("unit.mtu has no value") + mtu);
  CHECK_THAT(error("mtu", "  "), Catch::Contains("has no value"));
  // Booleans and names.
  for (const char* word : {"yes", "No", "ON", "off", "y", "N"}) {
    CAPTURE(word);
    CHECK(error("coalesce", word) ==
          "unit.coalesce: \"" + std::string(word) +
              "\" is a boolean of YAML 1.1 only; write true or false; allowed: false | true");
    CHECK(error("depth", word) == "unit.depth: \"" + std::string(word) +
                                      "\" is a boolean; a number such as \"12\" is wanted" + depth);
    CHECK(error("rx_forward", word) ==
          "unit.rx_forward: \"" + std::string(word) +
              "\" is a boolean; one of the names is wanted; allowed: store | cut_through");
  }
  CHECK_THAT(error("coalesce", "1"), Catch::Contains("is not true or false"));
  CHECK_THAT(error("coalesce", "True"), Catch::Contains("is not true or false"));
  CHECK_THAT(error("depth", "true"),
             Catch::Contains("is a boolean; a number such as \"12\" is wanted"));
  CHECK(error("rx_forward", "cutthrough") ==
        "unit.rx_forward: \"cutthrough\" is not one of the names; allowed: store | cut_through; "
        "did you mean "
        "\"cut_through\"?");
  CHECK_THAT(error("rx_forward", "1"),
             Catch::EndsWith("is not one of the names; allowed: store | cut_through"));
}

TEST_CASE("an unknown knob names the known ones and the nearest", "[engine][knob]") {
  TestConfig config;
  try {
    set_knob(config, "latencie", "3 cycles");
    FAIL("accepted");
  } catch (const ConfigError& e) {
    CHECK(e.knob == "unit.latencie");
    CHECK(e.value == "3 cycles");
    CHECK(e.range == "latency, depth, rate, clock, timeout, mtu, coalesce, rx_forward");
    CHECK(e.nearest == "latency");
    CHECK(std::string(e.what()) ==
          "unit.latencie: \"3 cycles\" is no knob of unit; known: latency, depth, rate, clock, "
          "timeout, mtu, coalesce, "
          "rx_forward; did you mean \"latency\"?");
  }
  CHECK_THROWS_WITH(set_knob(config, "quux", "1"), !Catch::Contains("did you mean"));
  CHECK_THROWS_AS(knob_text(config, "quux"), ConfigError);
}

TEST_CASE("each knob is printed with its unit and read back", "[engine][knob]") {
  const TestConfig config;
  std::string text(Knobs<TestConfig>::sentence);
  text += '\n';
  for_each_knob(config, [&](const auto& knob) {
    text += std::string(knob.info.name) + " = " + knob.text() + "\n";
  });
  CHECK(text ==
        "one knob of each kind\nlatency = 2 cycles\ndepth = 4\nrate = 100 Gb/s\nclock = 402.83 "
        "MHz\ntimeout = 1.5 us\nmtu "
        "= 4 KiB\n"
        "coalesce = true\nrx_forward = store\n");
  TestConfig other;
  for (const u64 number :
       {u64{0}, u64{1}, u64{999}, u64{1001}, u64{1500}, u64{1'500'100}, u64{1} << 40, ~u64{0}}) {
    other.timeout = number;
    CHECK(value("timeout", knob_text(other, "timeout")) == number);
  }
  other.timeout = 1'500'100;
  CHECK(knob_text(other, "timeout") == "1500.1 ns");
  other.mtu = 1500;
  CHECK(knob_text(other, "mtu") == "1500 B");
  other.latency = 1;
  CHECK(knob_text(other, "latency") == "1 cycle");
}

TEST_CASE("values that were assigned are checked too", "[engine][knob]") {
  TestConfig config;
  check_knobs(config);
  config.depth = 65;
  CHECK_THROWS_WITH(check_knobs(config), "unit.depth: \"65\" is out of range; allowed: 1 .. 64");
  config.depth = 4, config.latency = 0;
  CHECK_THROWS_WITH(check_knobs(config),
                    "unit.latency: \"0 cycles\" is out of range; allowed: 1 cycle .. 1000 cycles");
}

TEST_CASE("the nearest name is near", "[engine][knob]") {
  const std::array<std::string_view, 3> known{"latency", "interval", "depth"};
  CHECK(nearest_name("latncy", known) == "latency");
  CHECK(nearest_name("Depht", known) == "depth");
  CHECK(nearest_name("intervall", known) == "interval");
  CHECK(nearest_name("zzz", known) == "");
  CHECK(nearest_name("", known) == "");
  // The nearer name, at any place in the list, and no distant one.
  const std::array<std::string_view, 3> tags{"read_tags_of_the_link", "read_tabx", "read_tag"};
  const std::array<std::string_view, 2> turned{"read_tag", "read_tabx"};
  CHECK(nearest_name("read_tagz", tags) == "read_tag");
  CHECK(nearest_name("read_tagz", turned) == "read_tag");
  CHECK(nearest_name(std::string(5000, 'r'), tags) == "");
}

namespace {
// By its definition: the last letters are equal, or one of them is replaced, comes or goes.
std::size_t distance_by_table(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j)
      d[i][j] = !i   ? j
                : !j ? i
                     : std::min({d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), d[i - 1][j] + 1,
                                 d[i][j - 1] + 1});
  return d[a.size()][b.size()];
}
}  // namespace

TEST_CASE("letters that change, come or go are counted", "[engine][knob]") {
  CHECK(edit_distance("kitten", "SITTING") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance(std::string(64, 'a') + "bcd", std::string(64, 'a')) == 0);
  std::mt19937 random(1);
  const auto text = [&](std::size_t longest) {
    std::string letters(random() % (longest + 1), 'a');
    for (char& letter : letters) letter = char('a' + random() % 3);
    return letters;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string a = text(64), b = i % 2 ? text(64) : a.substr(a.size() / 3) + text(9);
    INFO(a << " and " << b);
    CHECK(edit_distance(a, b) == distance_by_table(a, b));
  }
}

namespace hca::engine {
struct ArrayConfig {
  std::array<u32, 12> depth{1, 2};
};
}  // namespace hca::engine

template <>
struct hca::engine::Knobs<ArrayConfig> {
  static constexpr std::string_view block = "unit";
  static constexpr std::string_view sentence = "a knob for each element";
  static constexpr auto rows =
      knobs_of<"depth_", "of queue ">(&ArrayConfig::depth, Unit::Count, 0, 9);
};

TEST_CASE("an array has a knob for each element", "[knob]") {
  CHECK(knob_names<ArrayConfig>()[0] == "depth_0");
  CHECK(knob_names<ArrayConfig>()[11] == "depth_11");
  CHECK(kKnobInfos<ArrayConfig>[11].sentence == "of queue 11");
  ArrayConfig config;
  set_knob(config, "depth_11", "7");
  CHECK(config.depth == std::array<u32, 12>{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7});
  CHECK(knob_text(config, "depth_1") == "2");
  CHECK_THROWS_WITH(
      set_knob(config, "depth_11", "10"),
      Catch::Matchers::Contains("unit.depth_11") && Catch::Matchers::Contains("0 .. 9"));
  CHECK_THROWS_WITH(set_knob(config, "depth_12", "1"), Catch::Matchers::Contains("unit.depth_12"));
}
