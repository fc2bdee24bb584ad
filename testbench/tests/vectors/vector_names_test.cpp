// SPDX-License-Identifier: Apache-2.0
// A vector that says what does not exist is refused when it is read, with the place and what there
// is.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "testbench/vectors/run.h"

namespace hca::testbench {
namespace {
struct File {
  std::string path =
      std::filesystem::temp_directory_path() / fmt::format("hca_vector_names_{}.json", getpid());
  File(const std::string& setup, const std::string& steps) {
    std::ofstream(path) << R"({"vector": "hca-vector-1", "for": ["C9-1"], "says": "A sentence.",
      "because": "It has a reason.", "setup": )"
                        << setup << R"(, "steps": [)" << steps << "]}";
  }
  ~File() { std::remove(path.c_str()); }
};

std::string refusal(const std::string& setup, const std::string& step) {
  const File file(setup, step);
  try {
    load_vector(file.path);
  } catch (const std::exception& error) {
    return std::string(error.what()).substr(file.path.size() + 2);
  }
  return "taken";
}
VectorResult run(const std::string& setup, const std::string& steps) {
  const File file(setup, steps);
  return run_vector(load_vector(file.path), vector_runners()[0]);
}
}  // namespace

TEST_CASE("names of a vector are judged when it is read", "[vectors]") {
  const auto step = [](const std::string& text) { return refusal("{}", text); };
  CHECK(step(R"({"event": {"type": "QP_FATAL"}})") == "taken");
  CHECK(step(R"({"event": {"type": "QP_LOST"}})")
            .find("steps[0].event.type: is 'QP_LOST'; allowed: QP_FATAL, ") == 0);
  CHECK(step(R"({"send_cqe": {"status": "OK"}})")
            .find("steps[0].send_cqe.status: is 'OK'; allowed: SUCCESS, ") == 0);
  CHECK(step(R"({"recv_cqe": [{}, {"opcode": "RECEIVE"}]})")
            .find("steps[0].recv_cqe[1].opcode: is 'RECEIVE'; allowed: SEND, ") == 0);
  CHECK(step(R"({"post_recv": {"error": "EIO"}})") ==
        "steps[0].post_recv.error: is 'EIO'; allowed: EINVAL, ENOMEM, EBUSY");
  CHECK(step(R"({"post_send": {"list": [{"op": "SEND"}, {"op": "PUT"}]}})")
            .find("steps[0].post_send.list[1].op: is 'PUT'") == 0);
  CHECK(
      step(R"({"query": {"State": "Rts"}})")
          .find(
              "steps[0].query.State: is 'Rts'; allowed: Reset, Init, RTR, RTS, SQD, SQE, Error") ==
      0);
  CHECK(step(R"({"query": {"State": 7}})").find("steps[0].query.State: is 7") == 0);
  CHECK(step(R"({"command": {"name": "ModifyQp", "body": {"State": "LOC_LEN_ERR"}}})")
            .find("steps[0].command.body.State") == 0);
  CHECK(step(R"({"command": {"name": "MakeQp"}})")
            .find("steps[0].command.name: is 'MakeQp'; allowed: SetPort, ") == 0);
  CHECK(step(R"({"command": {"name": "AllocPd", "status": "Good"}})")
            .find("steps[0].command.status: is 'Good'; allowed: Ok, ") == 0);
}

TEST_CASE("a set-up takes the states that a queue pair can begin in", "[vectors]") {
  const std::string step = R"({"silence": "1 us"})";
  CHECK(refusal(R"({"qps": {"q": {"State": "SQD"}}})", step) == "taken");
  CHECK(refusal(R"({"qps": {"q": {"State": "SQE"}}})", step) ==
        "setup.qps.q.State: is 'SQE'; allowed: Reset, Init, RTR, RTS, SQD, Error");
  CHECK(refusal(R"({"qps": {"q": {"State": 3}}})", step).find("setup.qps.q.State: is 3") == 0);
}

TEST_CASE("a vector expects something", "[vectors]") {
  const auto expects_nothing = [](const std::string& steps) {
    return refusal(R"({"regions": {"m": {}}})", steps)
               .find("steps: expects nothing; allowed: a packet, ") == 0;
  };
  CHECK(expects_nothing(R"({"post_recv": {}}, {"advance": "1 us"})"));
  // What may be missing, or may be anything, is expected of no device.
  CHECK(expects_nothing(R"({"sent": {"opcode": "Acknowledge", "may": true}})"));
  CHECK(expects_nothing(R"({"memory": {"region": "m", "bytes": 4, "undefined": true}})"));
  CHECK(
      refusal(R"({"regions": {"m": {}}})",
              R"({"sent": [{"opcode": "Acknowledge", "may": true}, {"opcode": "Acknowledge"}]})") ==
      "taken");
  CHECK(run("{}", R"({"post_recv": {}}, {"silence": "1 us"})").passed());
}

TEST_CASE("packets are held in a loop alone, and none at the end", "[vectors]") {
  CHECK(refusal("{}", R"({"release": "all"})") ==
        "steps[0].release: there is no loop; allowed: setup.loop");
  const std::string loop = R"({"loop": ["a", "b"], "qps": {"a": {}, "b": {}}})";
  const std::string held = R"({"hold": true},
    {"post_send": {"qp": "a", "op": "RDMA_WRITE", "inline": "01", "unsignaled": true}},
    {"sent": {"qp": "a", "opcode": "RDMA WRITE Only"}})";
  const VectorResult left = run(loop, held);
  REQUIRE(left.failure);
  CHECK(left.failure->where == "the end");
  CHECK(left.failure->what.find("still held: RC RDMA WRITE Only QP 0x12 PSN 512") == 0);
  CHECK(run(loop, held + R"(, {"drop": "all"})").passed());
}

TEST_CASE("a CQ of a vector has as many entries as it says", "[vectors]") {
  const auto with = [](const std::string& entries) {
    return refusal(R"({"cqs": {"c": {"entries": )" + entries + "}}}", R"({"silence": "1 us"})");
  };
  CHECK(with("4") == "taken");
  for (const char* entries : {"0", "2", "5", "131072"})
    CHECK(with(entries) == std::string("setup.cqs.c.entries: is ") + entries +
                               "; allowed: a power of two, 4 .. 65536");
}

TEST_CASE("names of later steps are judged before an early one fails", "[vectors]") {
  const std::string fails = R"({"send_cqe": {}}, )";
  CHECK(refusal("{}", fails + R"({"cq_event": "x"})") ==
        "steps[1].cq_event: there is no CQ 'x'; allowed: cq");
  CHECK(refusal("{}", fails + R"({"sent": {"opcode": "Acknowledge", "MSN": "0x1000000"}})") ==
        "steps[1].sent.MSN: is 0x1000000; allowed: 0 .. 0xffffff");
  CHECK(refusal("{}", fails + R"({"query": {"PSN": 1}})").find("steps[1].query.PSN: is no field") ==
        0);
}

TEST_CASE("numbers stay between 0 and 64 bits", "[vectors]") {
  const auto with = [](const std::string& value) {
    return refusal(
        R"({"regions": {"m": {"va": 16}}})",
        R"({"post_send": {"op": "RDMA_READ", "remote": ")" + value + R"("}}, {"silence": "1 us"})");
  };
  CHECK(with("m - 16") == "taken");
  CHECK(with("m - 17").find("steps[0].post_send.remote: is below 0 or beyond 64 bits") == 0);
  CHECK(with("m + 0xffffffffffffffef") == "taken");  // 16 + 2^64 - 17 = 2^64 - 1
  CHECK(with("m + 0xfffffffffffffff0").find("steps[0].post_send.remote: is below 0") == 0);
  CHECK(with("m +").find("steps[0].post_send.remote: '' is neither") == 0);
}

TEST_CASE("a list of work requests names the one that is refused", "[vectors]") {
  const auto posted = [](const std::string& rest) {
    return run("{}", R"({"post_recv": {"list": [{}, {"sge": [
      {"va": 0, "bytes": 1, "key": 0}, {"va": 0, "bytes": 1, "key": 0},
      {"va": 0, "bytes": 1, "key": 0}, {"va": 0, "bytes": 1, "key": 0},
      {"va": 0, "bytes": 1, "key": 0}]}])" +
                         rest + R"(}}, {"silence": "1 us"})");
  };
  CHECK(posted(R"(, "bad": 1, "error": "EINVAL")").passed());
  CHECK(posted(R"(, "bad": 0, "error": "EINVAL")").failure->what ==
        "expected the error at place 0, got it at 1");
  CHECK(posted("").failure->what == "expected success, got EINVAL");
  CHECK(refusal("{}", R"({"post_recv": {"list": [{}], "error": "EINVAL"}})") ==
        "steps[0].post_recv: has one of bad and error; allowed: both, or none of them");
}
}  // namespace hca::testbench
