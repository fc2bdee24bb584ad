// SPDX-License-Identifier: Apache-2.0
// A statement counts as shown only if each of its mistakes is noticed; the answers here are given.
#include <catch2/catch.hpp>

#include "testbench/vectors/coverage.h"

namespace hca::testbench {
namespace {
VectorReport passing(const std::string& name, const std::string& statement) {
  VectorReport report;
  report.vector.path = report.vector.name = name;
  report.vector.statements = {statement};
  return report;
}
Statement active(const std::string& id, std::vector<std::string> mutants) {
  Statement s;
  s.id = id, s.status = "active", s.mutants = std::move(mutants);
  return s;
}

// What each vector draws under a mistake, on the runners f and c.
using Draws = std::map<std::string, std::pair<std::string, std::string>>;
Coverage cover_with(const std::vector<std::string>& mutants,
                    const std::map<std::string, Draws>& draws, unsigned share = 1) {
  const Statement statements[] = {active("C9-1", mutants)};
  const VectorReport reports[] = {passing("v", "C9-1"), passing("w", "C9-1")};
  CoverageOptions options;
  options.share = share;
  return cover(statements, reports, options, [&](const nlohmann::json& pairs) {
    nlohmann::json answers = pairs;
    for (auto& answer : answers) {
      const auto found = draws.find(answer["mutant"].get<std::string>());
      if (found == draws.end()) {
        answer["unknown"] = true;
        continue;
      }
      for (const auto& [vector, drawn] : found->second)
        answer["results"][vector] = {{"f", drawn.first}, {"c", drawn.second}};
    }
    return answers;
  });
}
const Draws kFailsInW{{"v", {"passed", "passed"}}, {"w", {"failed: x: y", "failed: x: y"}}};
const Draws kPassesOnC{{"v", {"failed: x: y", "passed"}}, {"w", {"passed", "passed"}}};
const Draws kDiesOnC{{"v", {"failed: x: y", "died"}}, {"w", {"passed", "hung"}}};
}  // namespace

TEST_CASE("a statement passes if each of its mistakes is noticed on each runner", "[vectors]") {
  const Coverage all = cover_with({"a", "b"}, {{"a", kFailsInW}, {"b", kFailsInW}});
  REQUIRE(all.rows.size() == 1);
  CHECK(all.rows[0].verdict == Verdict::Passing);
  CHECK(all.mutants == 2);
  CHECK(all.killed == 2);
  const nlohmann::json json = json_of(all)["statements"][0]["mutants"][1];
  CHECK(json["name"] == "b");
  CHECK(json["verdict"] == "killed");
  CHECK(json["noticed"] == nlohmann::json{{"w", {{"f", "failed: x: y"}, {"c", "failed: x: y"}}}});
}

TEST_CASE("one mistake that passes on one runner is a survivor, and is named", "[vectors]") {
  const Coverage all = cover_with({"a", "b"}, {{"a", kFailsInW}, {"b", kPassesOnC}});
  CHECK(all.rows[0].verdict == Verdict::Survived);
  CHECK(all.rows[0].how == "b: survived, passes on c");
  CHECK(all.survivors == std::map<std::string, std::vector<std::string>>{{"b", {"C9-1"}}});
  CHECK(all.killed == 1);
}

TEST_CASE("a mistake that a crash or hang alone shows counts and is listed", "[vectors]") {
  const Coverage all = cover_with({"a"}, {{"a", kDiesOnC}});
  CHECK(all.rows[0].verdict == Verdict::Passing);
  CHECK(all.rows[0].mutants[0].verdict == MutantVerdict::Died);
  CHECK(all.died == std::map<std::string, std::vector<std::string>>{{"a", {"C9-1"}}});
}

TEST_CASE("rows that are obsolete or of TCAs alone are counted apart", "[vectors]") {
  Statement obsolete = active("C9-2", {}), of_tcas = active("C9-3", {}), ours = active("G8.2", {});
  obsolete.status = "obsolete", of_tcas.applies = "TCA";
  ours.ibta = "C9-130", ours.ibta_numbers = {"C9-130"};
  const Statement statements[] = {obsolete, of_tcas, ours};
  const Coverage all = cover(statements, {}, {}, [](const nlohmann::json& pairs) { return pairs; });
  CHECK(all.listed == 3);
  CHECK(all.obsolete == 1);
  CHECK(all.of_tcas == 1);
  REQUIRE(all.rows.size() == 1);
  CHECK(json_of(all)["statements"][0]["ibta"] == nlohmann::json{"C9-130"});
  CHECK(html_of(all).find("IBTA C9-130; ") != std::string::npos);
}

TEST_CASE("mistakes that do not exist or are not tried are told", "[vectors]") {
  CHECK(cover_with({"a", "x"}, {{"a", kFailsInW}}).rows[0].verdict == Verdict::UnknownMutant);
  CHECK(cover_with({}, {}).rows[0].verdict == Verdict::NoMutant);
  // No name of three hashes to 0 modulo this, by trial.
  CHECK(cover_with({"a", "b", "c"}, {}, 999'983).rows[0].verdict == Verdict::NotTried);
}
}  // namespace hca::testbench
