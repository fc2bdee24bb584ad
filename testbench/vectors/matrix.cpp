// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <tuple>

#include "model/proto/wire/extended_opcodes.h"
#include "testbench/host/verbs_names.h"
#include "testbench/vectors/matrix_errors.h"

namespace hca::testbench {
using namespace proto;

namespace {
struct MatrixSide {
  std::string_view name, table;  // "T9"
  std::span<const MatrixError> errors;
  std::span<const int> of_queue_pair;  // errors that are the same in every operation
  bool posts;  // its operations are work requests; otherwise packets that it receives
};
constexpr std::array kMatrixSides{
    MatrixSide{"Requester", "T9", kRequesterErrors, kRequesterErrorsOfQueuePair, true},
    MatrixSide{"Responder", "T10", kResponderErrors, kResponderErrorsOfQueuePair, false}};

// All operations that some packet has, in the order of their table, then those without packets.
std::vector<MatrixOperation> matrix_operations() {
  std::vector<MatrixOperation> all;
  for (const OperationRow& row : kOperationRows)
    if (std::ranges::any_of(kOpcodeRows,
                            [&](const OpcodeRow& opcode) {
                              return opcode.operation == row.operation && opcode.is_request;
                            }) &&
        row.operation != Operation::CongestionNotification)
      all.push_back({row.name, row.operation});
  all.push_back({"no packet", Operation::Send, true});
  return all;
}
constexpr std::array kServicesInOrder{Service::Rc, Service::Xrc, Service::Rd, Service::Uc,
                                      Service::Ud};
bool service_has(Service service, const MatrixOperation& o) {
  if (o.is_local)
    return std::ranges::any_of(kWorkRows, [&](const WorkRow& work) {
      return work.is_local() && includes(work.services, service);
    });
  return std::ranges::any_of(kOpcodeRows, [&](const OpcodeRow& row) {
    return row.service == service && row.operation == o.operation;
  });
}

// An error on a service: a statement of T9 or T10, with its class.
struct ClassedError {
  int number;
  std::string id, what;
  std::vector<std::string> classes;  // two if the table leaves a choice
};
std::vector<ClassedError> classed_errors_of(std::span<const Statement> statements,
                                            const MatrixSide& side, Service service) {
  static const std::regex form(R"(^(T\d+)-(\d+)/(\w+)$)");
  static const std::regex classes(R"(^(.*): class (\w+)(?: or (\w+))?( |$))");
  std::vector<ClassedError> rows;
  for (const Statement& s : statements) {
    std::smatch id, of;
    if (!std::regex_match(s.id, id, form) || id[1] != std::string(side.table)) continue;
    if (id[3] != std::string(name_of(service)) || !std::regex_search(s.text, of, classes)) continue;
    rows.push_back({std::stoi(id[2]), s.id, of[1], {of[2]}});
    if (of[3].matched) rows.back().classes.push_back(of[3]);
  }
  return rows;
}
bool side_concerns(const MatrixSide& side, int number, const MatrixOperation& o) {
  for (const MatrixError& error : side.errors)
    if (error.number == number) return error.concerns(o);
  return !o.is_local;
}

// The operations of a vector by service: those that it posts, and those of requests that it
// injects.
struct MatrixContents {
  std::set<std::pair<Service, std::string_view>> posted, injected;
};
class MatrixReader {
 public:
  explicit MatrixReader(const nlohmann::json& vector) {
    const auto setup = vector.find("setup");
    if (setup != vector.end() && setup->contains("qps"))
      for (const auto& [name, qp] : setup->at("qps").items())
        services_[name] = service_named(qp.value("service", "RC"));
    for (const auto& step : vector.at("steps")) read(step);
  }
  MatrixContents contents;

 private:
  static Service service_named(const std::string& name) {
    for (const Service service : kServices)
      if (name_of(service) == name) return service;
    return Service::Rc;
  }
  Service service_of(const nlohmann::json& step) const {
    const std::string only = services_.size() == 1 ? services_.begin()->first : "q";
    const auto found = services_.find(step.value("qp", only));
    return found == services_.end() ? Service::Rc : found->second;
  }
  template <class Each>
  static void each(const nlohmann::json& value, const Each& visit) {
    if (!value.is_array()) return visit(value);
    for (const auto& entry : value) visit(entry);
  }
  void read(const nlohmann::json& step) {
    for (const char* const verb : {"inject", "sent"})
      if (step.contains(verb)) each(step[verb], [&](const auto& packet) { take(packet, verb); });
    if (step.contains("post_raw")) take_raw(step["post_raw"]);
    if (!step.contains("post_send")) return;
    const auto& post = step["post_send"];
    if (post.contains("list"))
      each(post["list"], [&](const auto& wr) { take_post(wr, service_of(post)); });
    else
      take_post(post, service_of(post));
  }
  void take_post(const nlohmann::json& wr, Service service) {
    if (!wr.contains("op")) return;
    if (const auto opcode = work_opcode_of(wr["op"].template get<std::string>()))
      take_work(*work_row(*opcode), service);
  }
  void take_work(const WorkRow& work, Service service) {
    contents.posted.insert({service, work.is_local()
                                         ? std::string_view("no packet")
                                         : operation_row(opcode_row(work.only)->operation).name});
  }
  // A WQE that no driver writes: of a send queue, if its opcode is that of a work request.
  void take_raw(const nlohmann::json& post) {
    if (post.contains("srq") || post.value("queue", "send") != "send") return;
    const auto fields = post.value("fields", nlohmann::json::object());
    if (!fields.contains("Opcode")) return take_work(kWorkRows.front(), service_of(post));
    const auto& opcode = fields["Opcode"];
    const unsigned long number = opcode.is_string()
                                     ? std::stoul(opcode.template get<std::string>(), nullptr, 0)
                                     : opcode.template get<unsigned long>();
    if (number >= kWorkRows.size()) return;
    take_work(*work_row(WorkOpcode(number)), service_of(post));
  }
  // A packet that leaves a queue pair of a loop is received by the other one.
  void take(const nlohmann::json& packet, std::string_view verb) {
    if (!packet.contains("opcode")) return;
    const std::string name = packet["opcode"].template get<std::string>();
    const Service own = service_of(packet);
    const auto visit = [&](const OpcodeRow& row) {
      const bool named = (row.name == name && row.service == own) ||
                         fmt::format("{} {}", name_of(row.service), row.name) == name;
      if (!named || !row.is_request) return;
      auto& to = verb == "inject" ? contents.injected : contents.posted;
      to.insert({row.service, row.traits().name});
    };
    for (const OpcodeRow& row : kOpcodeRows) visit(row);
    for (const ExtendedRow& extended : kExtendedRows) visit(extended.row);
  }

  std::map<std::string, Service> services_;
};

// ---- Cells
struct MatrixCell {
  std::vector<std::string> lines;  // for each error its statement and its vectors
  std::size_t vectors = 0;
  bool has_error = false;
  bool is_general = true;  // its errors are the same in every operation, and shown in another one
};
struct MatrixVector {
  const Vector* vector;
  MatrixContents contents;
};
struct MatrixPlace {
  const MatrixSide& side;
  Service service;
  const MatrixOperation& operation;
};

MatrixCell make_cell(const MatrixPlace& at, const std::string& of_class,
                     std::span<const ClassedError> errors, std::span<const MatrixVector> vectors,
                     const std::string& to_vectors) {
  MatrixCell cell;
  std::set<std::string> counted;
  for (const ClassedError& error : errors) {
    if (std::ranges::find(error.classes, of_class) == error.classes.end()) continue;
    if (!side_concerns(at.side, error.number, at.operation)) continue;
    cell.has_error = true;
    std::string links;
    bool is_shown = false;
    for (const MatrixVector& v : vectors) {
      const auto& ids = v.vector->statements;
      if (std::ranges::find(ids, error.id) == ids.end()) continue;
      is_shown = true;
      const auto& all = at.side.posts ? v.contents.posted : v.contents.injected;
      if (!all.contains({at.service, at.operation.name})) continue;
      counted.insert(v.vector->name);
      links += fmt::format("{}[{}]({}{}.json)", links.empty() ? "" : ", ", v.vector->name,
                           to_vectors, v.vector->name);
    }
    const auto& general = at.side.of_queue_pair;
    cell.is_general &= is_shown && std::ranges::find(general, error.number) != general.end();
    cell.lines.push_back(fmt::format("{}, {}: {}", error.id, error.what,
                                     links.empty() ? "no vector of this operation" : links));
  }
  cell.vectors = counted.size();
  return cell;
}

std::string title_of_cell(const MatrixPlace& at, const std::string& of_class) {
  return fmt::format("{} {}, {}, class {}", name_of(at.service), at.operation.name,
                     at.side.posts ? "requester" : "responder", of_class);
}
std::string anchor_of_cell(std::string title) {
  std::string out;
  for (const char c : title)
    if (std::isalnum(u8(c)))
      out += char(std::tolower(u8(c)));
    else if (c == ' ' || c == '-')
      out += '-';
  return out;
}

// The reasons of empty cells.
enum class EmptyMatrixCell { NoOperation, NoService, NoClass, NoError, General, NoVector };
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEmptyMatrixCells{{
    {"a", "the service does not have the operation (T3, T4)"},
    {"b", "no device here executes the service"},
    {"c", "no error has this class on the service (T9 to T11)"},
    {"d", "no error of this class can occur in the operation (T9, T10)"},
    {"e", "the error is one of the queue pair, the same in every operation; others show it"},
    {"**f**", "no vector shows it"},
}};
EmptyMatrixCell reason_of_empty(const MatrixPlace& at, bool class_is_there,
                                const MatrixCell& cell) {
  if (!service_has(at.service, at.operation)) return EmptyMatrixCell::NoOperation;
  if (!includes(kExecuted, at.service)) return EmptyMatrixCell::NoService;
  if (!class_is_there) return EmptyMatrixCell::NoClass;
  if (!cell.has_error) return EmptyMatrixCell::NoError;
  return cell.is_general ? EmptyMatrixCell::General : EmptyMatrixCell::NoVector;
}

std::vector<std::string> classes_of_side(std::span<const Statement> statements,
                                         const MatrixSide& side) {
  std::set<std::string> all;
  for (const Service service : kServicesInOrder)
    for (const ClassedError& error : classed_errors_of(statements, side, service))
      all.insert(error.classes.begin(), error.classes.end());
  return {all.begin(), all.end()};
}

// A table and, after it, the vectors of its cells.
void add_side(const MatrixSide& side, std::span<const Statement> statements,
              std::span<const MatrixVector> vectors, const std::string& to_vectors,
              std::string& tables, std::string& lists) {
  const std::vector<std::string> classes = classes_of_side(statements, side);
  tables += fmt::format("\n## {} ({})\n\n| service | operation |", side.name, side.table);
  for (const std::string& c : classes) tables += fmt::format(" {} |", c);
  tables += "\n|---|---|";
  for (std::size_t i = 0; i < classes.size(); ++i) tables += "---|";
  tables += '\n';
  const std::vector<MatrixOperation> operations = matrix_operations();
  for (const Service service : kServicesInOrder) {
    const std::vector<ClassedError> errors = classed_errors_of(statements, side, service);
    for (const MatrixOperation& operation : operations) {
      if (operation.is_local && !side.posts) continue;
      const MatrixPlace at{side, service, operation};
      tables += fmt::format("| {} | {} |", name_of(service), operation.name);
      for (const std::string& c : classes) {
        const bool has_class = std::ranges::any_of(errors, [&](const ClassedError& e) {
          return std::ranges::find(e.classes, c) != e.classes.end();
        });
        const MatrixCell cell = make_cell(at, c, errors, vectors, to_vectors);
        const bool can_be = service_has(service, operation);
        if (!cell.vectors || !can_be) {
          tables += fmt::format(
              " {} |", kEmptyMatrixCells[std::size_t(reason_of_empty(at, has_class, cell))].first);
          continue;
        }
        const std::string title = title_of_cell(at, c);
        tables += fmt::format(" [{}](#{}) |", cell.vectors, anchor_of_cell(title));
        lists += fmt::format("\n### {}\n\n", title);
        for (const std::string& line : cell.lines) lists += fmt::format("- {}\n", line);
      }
      tables += '\n';
    }
  }
}
}  // namespace

std::string matrix_page(std::span<const Statement> statements, std::span<const Vector> vectors,
                        const std::string& to_vectors) {
  std::vector<MatrixVector> all;
  for (const Vector& v : vectors) all.push_back({&v, MatrixReader(v.document).contents});
  std::ranges::sort(all, {}, [](const MatrixVector& v) { return v.vector->name; });
  std::string tables, lists;
  for (const MatrixSide& side : kMatrixSides)
    add_side(side, statements, all, to_vectors, tables, lists);
  std::string page =
      "# Service x operation x error class\n\nA number is a link to the vectors that show errors "
      "of this class (T11) in this operation of this service. A vector\ncounts if it is for the "
      "statement of the error (T9, T10) and posts the operation, or receives it as a request.\n"
      "\n| empty | reason |\n|---|---|\n";
  for (const auto& [mark, reason] : kEmptyMatrixCells)
    page += fmt::format("| {} | {} |\n", mark, reason);
  return page + tables + "\n## Vectors\n" + lists;
}
}  // namespace hca::testbench
