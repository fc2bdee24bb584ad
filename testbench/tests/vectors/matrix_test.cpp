// SPDX-License-Identifier: Apache-2.0
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
}  // namespace hca::testbench
