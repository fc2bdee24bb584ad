// SPDX-License-Identifier: Apache-2.0
// What a set-up gives queue pairs is put into them on both models, or refused with its range; the
// numbers of the standard find vectors.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "testbench/vectors/coverage.h"
#include "testbench/vectors/filter.h"
#include "testbench/vectors/inputs.h"
#include "testbench/vectors/junit.h"
#include "testbench/vectors/queue_attributes.h"
#include "testbench/vectors/run.h"

namespace hca::testbench {
namespace {
constexpr const char* kAsksAll =
    R"({"query": {"MSN": "0xfffffe", "RqPSN": "0xfffffd", "NakSent": 1, "SqPSN": "0xfffffc",
        "SentPSN": "0xfffffc", "UnackedPSN": "0xfffffc", "SSN": "0xfffffb", "Credit": 1,
        "LimitSSN": 5, "RetriesLeft": 2, "RnrRetriesLeft": 1}})";

Vector vector_with(const std::string& qp, const std::string& step = R"({"silence": "1 us"})") {
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("hca_vector_state_{}.json", getpid());
  std::ofstream(path) << R"({"vector": "hca-vector-1", "for": ["C9-1"], "says": "A sentence.",
      "because": "It has a reason.", "setup": {"srqs": {"s": {}}, "qps": {"q": )"
                      << qp << R"(}}, "steps": [)" << step << "]}";
  struct Remove {
    const std::string& path;
    ~Remove() { std::remove(path.c_str()); }
  } const remove{path};
  return load_vector(path);
}
std::string refusal(const std::string& qp) try {
  vector_with(qp);
  return "taken";
} catch (const std::exception& error) {
  const std::string what = error.what();
  return what.substr(what.find("setup."));
}
}  // namespace

TEST_CASE("what no command sets is put into a queue pair on each model", "[vectors]") {
  const Vector v = vector_with(R"({"RetryCount": 3, "RnrRetry": 2, "state": {"MSN": "0xfffffe",
      "RqPSN": "0xfffffd", "NakSent": 1, "SqPSN": "0xfffffc", "SSN": "0xfffffb", "Credit": 1,
      "LimitSSN": 5, "RetriesLeft": 2, "RnrRetriesLeft": 1}})",
                               kAsksAll);
  const VectorReport report = run_vector(v);
  for (const VectorResult& r : report.results) {
    INFO(r.runner << ": " << (r.failure ? r.failure->what : ""));
    CHECK(r.passed());
  }
  CHECK(report.passed());
  // Without it nothing is there: the query differs.
  CHECK_FALSE(run_vector(vector_with("{}", kAsksAll)).passed());
}

TEST_CASE("a state out of range is refused with the range", "[vectors]") {
  CHECK(refusal(R"({"state": {"MSN": "0x1000000"}})") ==
        "setup.qps.q.state.MSN: is 0x1000000; allowed: 0 .. 0xffffff");
  CHECK(refusal(R"({"RetryCount": 3, "state": {"RetriesLeft": 4}})") ==
        "setup.qps.q.state.RetriesLeft: is 0x4; allowed: 0 .. 0x3");
  CHECK(refusal(R"({"RnrRetry": 1, "state": {"RnrRetriesLeft": 2}})") ==
        "setup.qps.q.state.RnrRetriesLeft: is 0x2; allowed: 0 .. 0x1");
  CHECK(refusal(R"({"state": {"Credit": 3}})") ==
        "setup.qps.q.state.Credit: is 0x3; allowed: 0 .. 0x2");
  CHECK(refusal(R"({"State": "RTR", "state": {"SSN": 1}})") ==
        "setup.qps.q.state.SSN: is not there in RTR; allowed: states RTS, SQD");
  CHECK(refusal(R"({"service": "UC", "state": {"MSN": 1}})") ==
        "setup.qps.q.state.MSN: is nothing that UC has; allowed: RqPSN, SqPSN, SentPSN, "
        "UnackedPSN");
  CHECK(refusal(R"({"state": {"SentPSN": 2, "UnackedPSN": 1}})").find("; allowed: 0x2") !=
        std::string::npos);
  CHECK(refusal(R"({"state": {"Colour": 1}})").find("setup.qps.q.state.Colour: is unknown") == 0);
  CHECK(refusal(R"({"State": "RTR", "state": {"MSN": 1, "RqPSN": 5}})") == "taken");
}

TEST_CASE("a key that would set nothing is refused with those that set something", "[vectors]") {
  for (const char* key : {"MSN", "SSN", "LimitSSN", "Credit", "RetriesLeft", "RnrRetriesLeft",
                          "SentPSN", "UnackedPSN", "NakSent"})
    CHECK(refusal(fmt::format(R"({{"{}": 1}})", key))
              .find(fmt::format("setup.qps.q.{}: is nothing that software gives: `state` has it; "
                                "allowed: service, ",
                                key)) == 0);
  for (const char* key : {"SqPosted", "SqCompleted", "RqPosted", "RqConsumed", "SqDraining",
                          "WaitsRnr", "ReadsOutstanding", "ReadsAccepted", "SqdNotify", "Mask"})
    CHECK(refusal(fmt::format(R"({{"{}": 1}})", key))
              .find(fmt::format("setup.qps.q.{}: is not set by a set-up", key)) == 0);
  CHECK(refusal(R"({"service": "UC", "RetryCount": 1})")
            .find("setup.qps.q.RetryCount: is not given to UC on its way to RTS; allowed: State, "
                  "Port, ") == 0);
  CHECK(refusal(R"({"State": "RTR", "Timeout": 1})")
            .find("setup.qps.q.Timeout: is not given to RC on its way to RTR") == 0);
  CHECK(refusal(R"({"srq": "s", "max_recv_wr": 4})") ==
        "setup.qps.q.max_recv_wr: conflicts with srq; allowed: max_wr and max_sge of the SRQ");
}

TEST_CASE("each attribute is given by a command or told by a query alone", "[vectors]") {
  for (const proto::FieldInfo& field : proto::kHeaderInfo<proto::QpAttributes>) {
    if (field.is_reserved || field.name == "Mask") continue;
    INFO(field.name);
    const bool only_told = std::string_view(field.meaning).starts_with("queried:");
    CHECK((mask_of_field(field.name) == 0) == only_told);
  }
}

TEST_CASE("vectors are found by the numbers of the standard", "[vectors]") {
  ReplayInputs in;
  in.vectors.push_back({"a.json", "rnr/a", {"G8.2"}, {}, "", "", {}});
  in.vectors.push_back({"b.json", "rnr/b", {"G8.3"}, {}, "", "", {}});
  Statement one, other;
  one.id = "G8.2", one.ibta = "C9-130;C9-140", one.ibta_numbers = {"C9-130", "C9-140"};
  other.id = "G8.3";
  one.status = other.status = "active";
  const Statement statements[] = {one, other};
  check_statements(in, statements);
  CHECK(in.vectors[0].ibta == std::vector<std::string>{"C9-130", "C9-140"});
  CHECK(in.vectors[1].ibta.empty());
  for (const char* text : {"C9-130", "C9-1[34]0", "G8.2"}) {
    CHECK(VectorFilter(text).takes(in.vectors[0]));
    CHECK_FALSE(VectorFilter(text).takes(in.vectors[1]));
  }
  CHECK_FALSE(VectorFilter("C9-13").takes(in.vectors[0]));
  CHECK(junit_of({{"vectors", "rnr/a", "", "", {"G8.2"}, {"C9-130"}}})
            .find("<properties><property name=\"statement\" value=\"G8.2\"/>"
                  "<property name=\"ibta\" value=\"C9-130\"/></properties>") != std::string::npos);
}
}  // namespace hca::testbench
