// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "testbench/vectors/matrix.h"

namespace hca::testbench {
namespace {
Statement matrix_statement(const std::string& id, const std::string& text) {
  Statement s;
  s.id = id, s.status = "active", s.text = text;
  return s;
}
Vector matrix_vector_for(const std::string& name, const std::string& statement,
                         const char* document) {
  Vector v;
  v.name = name, v.statements = {statement}, v.document = nlohmann::json::parse(document);
  return v;
}
// The line of the last table row that begins with this.
std::string matrix_line_of(const std::string& page, const std::string& begin) {
  const std::size_t at = page.rfind("\n" + begin);
  REQUIRE(at != page.npos);
  return page.substr(at + 1, page.find('\n', at + 1) - at - 1);
}
}  // namespace

TEST_CASE("a cell has the vectors of its service, operation and error class", "[matrix]") {
  const Statement statements[] = {
      matrix_statement("T10-5/RC", "R_Key violation: class C on RC; NAK 0x62"),
      matrix_statement("T10-5/UC", "R_Key violation: class D1 on UC; NAK none"),
      matrix_statement("T10-6/RC", "remote invalidate error: class J on RC; NAK none"),
      matrix_statement("T10-13/RC", "P_Key violation: class D on RC; NAK none")};
  const Vector vectors[] = {
      matrix_vector_for("a/write", "T10-5/RC",
                        R"({"steps": [{"inject": {"opcode": "RDMA WRITE Only", "PSN": 1}}]})"),
      matrix_vector_for("a/put", "T10-5/RC",
                        R"({"steps": [{"inject": [{"opcode": "PUT Memory Only", "PSN": 1}]}]})"),
      matrix_vector_for("a/uc", "T10-5/UC",
                        R"({"setup": {"qps": {"u": {"service": "UC"}}},
                     "steps": [{"inject": {"opcode": "RDMA WRITE Only", "PSN": 1}}]})"),
      matrix_vector_for("a/pkey", "T10-13/RC",
                        R"({"steps": [{"inject": {"opcode": "SEND Only", "PSN": 1}}]})")};
  const std::string page = matrix_page(statements, vectors, "v/");
  // The classes in order: C, D, D1, J.
  CHECK(matrix_line_of(page, "| RC | Write |") ==
        "| RC | Write | [1](#rc-write-responder-class-c) | e | c | d |");
  CHECK(matrix_line_of(page, "| RC | Put |") ==
        "| RC | Put | [1](#rc-put-responder-class-c) | e | c | d |");
  CHECK(matrix_line_of(page, "| RC | Send |") ==
        "| RC | Send | d | [1](#rc-send-responder-class-d) | c | **f** |");
  CHECK(matrix_line_of(page, "| RC | ReadRequest |") == "| RC | ReadRequest | **f** | e | c | d |");
  CHECK(matrix_line_of(page, "| UC | Write |") ==
        "| UC | Write | c | c | [1](#uc-write-responder-class-d1) | c |");
  CHECK(matrix_line_of(page, "| UC | ReadRequest |") == "| UC | ReadRequest | a | a | a | a |");
  CHECK(matrix_line_of(page, "- T10-5/UC") == "- T10-5/UC, R_Key violation: [a/uc](v/a/uc.json)");
}

TEST_CASE("errors of a receive WQE's buffer concern SENDs, those of its queue WRITEs too",
          "[matrix]") {
  const Statement statements[] = {
      matrix_statement("T10-1/RD", "malformed receive WQE: class A on RD; NAK 0x63"),
      matrix_statement("T10-19/RD", "receive CQ full: class G on RD; NAK none")};
  const std::string page = matrix_page(statements, {}, "v/");
  CHECK(matrix_line_of(page, "| RD | Send |") == "| RD | Send | **f** | **f** |");
  CHECK(matrix_line_of(page, "| RD | Write |") == "| RD | Write | d | **f** |");
  CHECK(matrix_line_of(page, "| RD | ReadRequest |") == "| RD | ReadRequest | d | d |");
}

TEST_CASE("a WQE that no driver writes counts as the work request of its opcode", "[matrix]") {
  const Statement statements[] = {
      matrix_statement("T9-17/RD", "local operation error tied to a WQE: class B on RD")};
  const auto page_of = [&](const char* posts) {
    const std::string document = fmt::format(
        R"({{"setup": {{"qps": {{"q": {{"service": "RD"}}}}}}, "steps": [{{"post_raw": {}}}]}})",
        posts);
    const Vector vectors[] = {matrix_vector_for("a/raw", "T9-17/RD", document.c_str())};
    return matrix_page(statements, vectors, "v/");
  };
  const std::string shown = "| RD | no packet | [1](#rd-no-packet-requester-class-b) |";
  const std::string empty = "| RD | no packet | **f** |";
  const auto line_of = [&](const char* posts) {
    return matrix_line_of(page_of(posts), "| RD | no packet |");
  };
  CHECK(line_of(R"({"queue": "send", "fields": {"Opcode": 9}})") == shown);  // LOCAL_INV
  CHECK(line_of(R"({"fields": {"Opcode": "0x8"}})") == shown);               // BIND_MW
  CHECK(line_of(R"({"queue": "send", "fields": {"Opcode": "0x3f"}})") == empty);
  CHECK(line_of(R"({"queue": "receive", "fields": {"Opcode": 9}})") == empty);
  CHECK(line_of(R"({"srq": "s", "fields": {"Opcode": 9}})") == empty);
  CHECK(page_of(R"({"queue": "send"})").find("| RD | Send | [1](#rd-send-requester-class-b) |") !=
        std::string::npos);
}
}  // namespace hca::testbench
