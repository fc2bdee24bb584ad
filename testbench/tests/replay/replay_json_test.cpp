// SPDX-License-Identifier: Apache-2.0
// A capture's JSON with one thing changed: what is wrong is named by file, path and what is
// allowed.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>

#include "testbench/replay/replay.h"
#include "testbench/replay/replay_runners.h"
#include "testbench/text/json_at.h"

namespace hca::testbench {
namespace {
using nlohmann::json;
const std::filesystem::path kCapture =
    std::filesystem::path(HCA_SOURCE_DIR) / "vectors/captures/rc_send_mtu256";

// A copy of the capture in a folder of its own.
class Copy {
 public:
  Copy() {
    std::filesystem::create_directories(folder_);
    std::filesystem::copy_file(kCapture.string() + ".pcap", pcap());
    std::ifstream(kCapture.string() + ".json") >> good;
  }
  ~Copy() { std::filesystem::remove_all(folder_); }
  std::string pcap() const { return (folder_ / "c.pcap").string(); }
  std::string file() const { return (folder_ / "c.json").string(); }
  // What load_capture() says of this text, without the file's name; "read": nothing.
  std::string error_of(const std::string& text) const {
    std::ofstream(file()) << text;
    try {
      load_capture(pcap());
      return "read";
    } catch (const std::exception& error) {
      const std::string what = error.what();
      CHECK(what.substr(0, file().size()) == file());
      return what.substr(file().size());
    }
  }
  // The same without the line, of a text that is JSON.
  std::string error_of(const std::function<void(json&)>& change) const {
    json changed = good;
    change(changed);
    const std::string error = error_of(changed.dump());
    return error == "read" ? error : error.substr(error.find(':', 1));
  }
  json good;

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("hca_replay_json_" + std::to_string(getpid()));
};
}  // namespace

TEST_CASE("a value that does not fit its field is refused, not cut", "[replay]") {
  const Copy copy;
  struct Row {
    std::size_t event;  // 0: mr, 2: qp, 4: connect, 6: post_recv, 7: post_send, 8: wc
    const char* name;
    u64 most;  // of the field: timers 5 bits, retries 3, QP numbers and PSNs 24, keys 32
  };
  constexpr u64 psn = 0xff'ffff, word = 0xffff'ffff;
  const Row row = GENERATE_COPY(values<Row>({
      {0, "rkey", word},
      {2, "qpn", psn},
      {4, "qpn", psn},
      {4, "dest_qpn", psn},
      {4, "sq_psn", psn},
      {4, "rq_psn", psn},
      {4, "path_mtu", 4096},
      {4, "timeout", 31},
      {4, "retry_cnt", 7},
      {4, "rnr_retry", 7},
      {4, "min_rnr_timer", 31},
      {4, "max_rd_atomic", 255},
      {4, "max_dest_rd_atomic", 255},
      {4, "ipv6", 1},
      {4, "traffic_class", 255},
      {4, "hop_limit", 255},
      {4, "flow_label", 0xf'ffff},
      {6, "qpn", psn},
      {7, "qpn", psn},
      {7, "signaled", 1},
      {8, "qpn", psn},
      {8, "byte_len", word},
  }));
  const auto with = [&](const json& value) {
    return copy.error_of([&](json& all) { all["events"][row.event][row.name] = value; });
  };
  const std::string path = ": events[" + std::to_string(row.event) + "]." + row.name + ": is ";
  CAPTURE(path);
  CHECK(with(row.most) == "read");
  const json too_much = row.most + 1;
  CHECK(with(too_much).substr(0, path.size() + too_much.dump().size() + 10) ==
        path + too_much.dump() + "; allowed:");
  for (const json& wrong : {json(-1), json(1.5), json("x"), json(""), json("0x"), json(),
                            json(1e30), json::array(), json::object()})
    CHECK(with(wrong).substr(0, path.size()) == path);
}

TEST_CASE("JSON of another structure is told by path", "[replay]") {
  const Copy copy;
  const auto starts = [](const std::string& text, const std::string& start) {
    CHECK(text.substr(0, start.size()) == start);
    CHECK(text.find("; allowed: ") != text.npos);
    CHECK(text.find("json.exception") == text.npos);
  };
  starts(copy.error_of("{}"), ":1: case: is missing");
  starts(copy.error_of("[]"), ":1: (top): is []");
  starts(copy.error_of("\n3"), ":2: (top): is 3");
  starts(copy.error_of(""), ":1: (top): no JSON from column 1 on");
  starts(copy.error_of("{\n \"case\": }"), ":2: (top): no JSON from column 10 on");
  starts(copy.error_of("{\"case\": \"a\",\n \"events\":\n [],\n\n \"events\": []}"),
         ":5: key \"events\" occurs twice in one object");
  starts(copy.error_of("{\"case\": \"\xff\"}"), ":1: (top): no JSON from column ");

  struct Row {
    const char *pointer, *value, *error;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"/case", "1", ": case: is 1; allowed: a string"},
           {"/sides", "[]", ": sides: is []; allowed: an object"},
           {"/sides/A", "{}", ": sides.A.mac: is missing"},
           {"/sides/A/mac", "\"02\"", ": sides.A.mac: is \"02\"; allowed: 12 hex digits"},
           {"/sides/B/gid4", "\"zz000000000000000000ffffc0000201\"", ": sides.B.gid4: is "},
           {"/events", "{}", ": events: is {}; allowed: a list"},
           {"/events/0", "3", ": events[0]: is 3; allowed: an object"},
           {"/events/0/t_us", "-1", ": events[0].t_us: is -1"},
           {"/events/0/ev", "\"mrr\"",
            ": events[0].ev: is \"mrr\", which a replay does not know; it would need "},
           {"/events/0/side", "\"C\"", ": events[0].side: is \"C\"; allowed: A | B"},
           {"/events/0/access", "\"LW WR\"", ": events[0].access: has \"WR\"; allowed: LW, RW, "},
           {"/events/0/access", "\"lw\"", ": events[0].access: has \"lw\"; allowed: LW, RW, "},
           {"/events/0/len", "4294967296", ": events[0].len: is 4294967296"},
           {"/events/6/sge", "3", ": events[6].sge: is 3; allowed: a list"},
           {"/events/6/sge/0", "[1]", ": events[6].sge[0]: is [1]; allowed: a list of 2 or more"},
           {"/events/6/sge/0/2", "\"0x100000000\"", ": events[6].sge[0][2]: is \"0x100000000\""},
           {"/events/8/queue", "\"both\"", ": events[8].queue: is \"both\"; allowed: send | recv"},
           {"/frames", "[]", ": frames: describes 0 frames; allowed: 34, as the pcap holds"},
           {"/frames/1/dir", "\"A>C\"", ": frames[1].dir: is \"A>C\"; allowed: A>B | B>A"},
           {"/events/4/path_mtu", "1000",
            ": events[4].path_mtu: is 1000; allowed: 256 | 512 | 1024 | 2048 | 4096"},
           {"/events/4/path_mtu", "8192",
            ": events[4].path_mtu: is 8192; allowed: a whole number, 256 .. 4096"},
           {"/events/2/type", "\"RX\"", ": events[2].type: is \"RX\"; allowed: RC | UC | UD"},
           {"/events/4/pkey", "\"0x8001\"", ": events[4].pkey: is \"0x8001\""},
           {"/frames/1/n", "1", ": frames[1].n: is 1; allowed: a whole number, 2 .. 2"},
           {"/frames/1/fate", "7", ": frames[1].fate: is 7; allowed: a string"}}) {
    INFO(row.pointer);
    starts(copy.error_of(
               [&](json& all) { all[json::json_pointer(row.pointer)] = json::parse(row.value); }),
           row.error);
  }
  const char* name = GENERATE("ev", "t_us", "side", "qpn", "timeout", "qp_access");
  starts(copy.error_of([&](json& all) { all["events"][4].erase(name); }),
         ": events[4]." + std::string(name) + ": is missing; allowed:");
}

TEST_CASE("a wrong value is told with its line", "[replay]") {
  const Copy copy;
  json changed = copy.good;
  changed["events"][6]["sge"][0][1] = "0x123456789";
  const std::string text = changed.dump(1);  // a line for each value
  const std::size_t at = text.find("0x123456789");
  const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n');
  CHECK(copy.error_of(text).starts_with(":" + std::to_string(line) + ": events[6].sge[0][1]: is "));
}

TEST_CASE("an end without a queue pair is an error unless it is hand-made", "[replay]") {
  const Copy copy;
  for (const std::size_t qp : {2u, 3u}) {  // of A, of B
    const std::string side = qp == 2 ? "A" : "B";
    CHECK(copy.error_of([&](json& all) { all["events"].erase(qp); }) ==
          ": events: side " + side +
              " has no queue pair; allowed: a qp event, or fake_peer for a hand-made side");
    CHECK(copy.error_of([&](json& all) { all["events"][qp]["ev"] = "fake_peer"; }) == "read");
  }
}

TEST_CASE("what the device refuses is named with the command's status", "[replay]") {
  Capture capture = load_capture(kCapture.string() + ".pcap");
  capture.events[5].values["path_mtu"] = 1000;  // connect of B; no MTU of the specification
  CHECK_THROWS_WITH(replay(capture, End::B, replay_runners()[0]),
                    "events[5] (connect): connect, to RTR: the device refuses it: BadValue");
}

TEST_CASE("a region has one key", "[replay]") {
  Capture capture = load_capture(kCapture.string() + ".pcap");
  capture.events[0].values["lkey"] = 1;
  CHECK_THROWS_WITH(replay(capture, capture.events[0].side, replay_runners()[0]),
                    "events[0] (mr): events[0].lkey: is not the rkey; allowed: one key for each "
                    "region: the rkey");
}

TEST_CASE("bytes outside of their region, and regions that are not there, are named", "[replay]") {
  Capture capture = load_capture(kCapture.string() + ".pcap");
  const auto final_of_b =
      std::find_if(capture.events.begin(), capture.events.end(),
                   [](const ReplayEvent& e) { return e.kind == "mem_final" && e.side == End::B; });
  REQUIRE(final_of_b != capture.events.end());
  const auto error_of = [&] {
    try {
      replay(capture, End::B, replay_runners()[0]);
      return std::string("replayed");
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
  };
  final_of_b->values["changed"] = json::parse("[[32767, \"0000\"]]");
  CHECK(error_of() == final_of_b->path + " (mem_final): " + final_of_b->path +
                          ".changed[0]: 2 bytes at offset 32767 leave the region; allowed: 0 .. "
                          "32768");
  final_of_b->values["mr"] = "c";
  CHECK(error_of() == final_of_b->path + " (mem_final): " + final_of_b->path +
                          ".mr: is \"c\"; allowed: the name of an mr event before it");
}

TEST_CASE("JSON whose values are nested too deeply is refused", "[replay]") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK_NOTHROW(parse_json(nested(100)));
  CHECK_THROWS_WITH(parse_json("{\n\"a\": 1e400}"),
                    "2: a number is too large; allowed: up to 1.79e308");
  CHECK_THROWS_WITH(parse_json(nested(102)), "1: values are nested too deeply; allowed: 100");
  CHECK_THROWS_WITH(parse_json(nested(200'000)), Catch::Contains("too deeply"));
}
}  // namespace hca::testbench
