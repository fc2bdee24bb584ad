// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/requirements.h"

#include <csv.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace {
struct Row {
  std::size_t line = 1;  // of its first field
  std::vector<std::string> fields;
};
struct Rows {
  std::size_t line = 1;
  Row now;
  std::vector<Row> all;
};

std::vector<Row> rows_of(const std::string& path, const std::string& text) {
  csv_parser parser;
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL))
    throw std::runtime_error(path + ": no memory");
  Rows rows;
  const auto field = [](void* bytes, std::size_t size, void* to) {
    auto& r = *static_cast<Rows*>(to);
    if (r.now.fields.empty()) r.now.line = r.line;
    const std::string& value = r.now.fields.emplace_back(static_cast<const char*>(bytes), size);
    r.line += std::size_t(std::count(value.begin(), value.end(), '\n'));
  };
  const auto end = [](int with, void* to) {  // of each line, an empty one too
    auto& r = *static_cast<Rows*>(to);
    if (!r.now.fields.empty()) r.all.push_back(std::exchange(r.now, {}));
    r.line += with == '\n';
  };
  const bool good =
      csv_parse(&parser, text.data(), text.size(), field, end, &rows) == text.size() &&
      csv_fini(&parser, field, end, &rows) == 0;
  const std::string problem = csv_strerror(csv_error(&parser));
  csv_free(&parser);
  if (!good) throw std::runtime_error(fmt::format("{}:{}: {}", path, rows.line, problem));
  return std::move(rows.all);
}

// The values of a column. None named: any text.
struct Values {
  std::span<const std::string_view> one;   // one of these
  std::span<const std::string_view> many;  // or several of these, separated by ;
  bool may_be_empty = false;
};
template <class T>
struct Column {
  const char* name;
  std::string T::*member;
  Values values{};
};

std::string refusal(std::string_view value, const Values& allowed) {
  const auto holds = [](std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (value.find_first_not_of(" \t\r\n") == value.npos)
    return allowed.may_be_empty && value.empty() ? "" : "is empty; allowed: a text";
  if ((allowed.one.empty() && allowed.many.empty()) || holds(allowed.one, value)) return "";
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t stop = std::min(value.find(';', at), value.size());
    parts.push_back(value.substr(at, stop - at));
    at = stop + 1;
  }
  const bool good = std::all_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return holds(allowed.many, part) && std::count(parts.begin(), parts.end(), part) == 1;
  });
  if (good) return "";
  std::string text = fmt::format("is '{}'; allowed: {}", value, fmt::join(allowed.one, ", "));
  if (!allowed.many.empty())
    text +=
        fmt::format("; or some of {}, each once, separated by ;", fmt::join(allowed.many, ", "));
  return text;
}

// The rows of a file by the columns of its first line. T has the member `line`.
template <class T, std::size_t N>
std::vector<T> load(const std::string& path, const std::array<Column<T>, N>& columns) {
  const auto text = read_text_file(path);
  if (!text) throw std::runtime_error(path + ": cannot be read");
  const std::vector<Row> rows = rows_of(path, *text);
  if (rows.empty()) throw std::runtime_error(path + ": is empty");
  const std::vector<std::string>& names = rows[0].fields;
  std::array<std::size_t, N> places;
  for (std::size_t i = 0; i < N; ++i) {
    const auto found = std::find(names.begin(), names.end(), columns[i].name);
    if (found == names.end())
      throw std::runtime_error(
          fmt::format("{}:{}: has no column {}", path, rows[0].line, columns[i].name));
    places[i] = std::size_t(found - names.begin());
  }
  for (const std::string& name : names)
    if (std::none_of(columns.begin(), columns.end(),
                     [&](const auto& c) { return c.name == name; }) ||
        std::count(names.begin(), names.end(), name) > 1)
      throw std::runtime_error(
          fmt::format("{}:{}: column '{}' is unknown or occurs twice", path, rows[0].line, name));
  std::vector<T> all;
  for (const Row& row : std::span(rows).subspan(1)) {
    if (row.fields.size() != names.size())
      throw std::runtime_error(fmt::format("{}:{}: {} columns; allowed: {}", path, row.line,
                                           row.fields.size(), names.size()));
    T& made = all.emplace_back();
    made.line = row.line;
    for (std::size_t c = 0; c < N; ++c) {
      made.*columns[c].member = row.fields[places[c]];
      if (const std::string wrong = refusal(made.*columns[c].member, columns[c].values);
          !wrong.empty())
        throw std::runtime_error(
            fmt::format("{}:{}: {} {}", path, row.line, columns[c].name, wrong));
    }
  }
  return all;
}

using Names = std::string_view;
constexpr std::array kGroups{Names("chapter"), Names("rule"), Names("table")};
constexpr std::array kRoles{Names("requester"), Names("responder"), Names("both"),
                            Names("receiver"), Names("any")};
constexpr std::array kAppliesTo{Names("CA"), Names("HCA"), Names("TCA")};
constexpr std::array kStates{Names("active"), Names("obsolete")};
constexpr std::array kKinds{Names("completion"),        Names("error-behaviour"),
                            Names("header-validation"), Names("memory-protection"),
                            Names("ordering"),          Names("packet-generation"),
                            Names("resource"),          Names("wire-format")};
constexpr std::array kNoService{Names("any"), Names("raw")};
constexpr std::array kServices{Names("RC"), Names("UC"), Names("RD"), Names("UD"), Names("XRC")};
constexpr std::array kAllFramings{Names("any"), Names("roce")};
constexpr std::array kFramings{Names("ib"), Names("rocev1")};

template <class R>
[[noreturn]] void refuse(const std::string& path, const R& row, const std::string& what) {
  throw std::runtime_error(fmt::format("{}:{}: {}", path, row.line, what));
}
bool is_text(std::string_view name) { return name.find_first_not_of(' ') != name.npos; }
// C9-57, o9-5.2.1: of the standard.
bool is_ibta_number(std::string_view name) {
  static const std::regex form("[Co][0-9]+-[0-9]+(\\.[a-z]?[0-9]+)*");
  return std::regex_match(name.begin(), name.end(), form);
}
// The names in a column, separated by ';'.
std::vector<std::string> names_in(const std::string& path, const Statement& row,
                                  std::string_view column, const std::string& text,
                                  std::string_view allowed, bool (*is_good)(std::string_view)) {
  std::vector<std::string> names;
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::size_t stop = std::min(text.find(';', at), text.size());
    const std::string name = text.substr(at, stop - at);
    if (!is_good(name) || std::count(names.begin(), names.end(), name))
      refuse(path, row, fmt::format("{} '{}'; allowed: {}", column, text, allowed));
    names.push_back(name);
    at = stop + 1;
  }
  return names;
}
// The statement that a row of another list names.
template <class R>
const Statement* active(const std::string& path, const R& row,
                        std::span<const Statement> statements) {
  const auto s = std::find_if(statements.begin(), statements.end(), [&](const Statement& known) {
    return known.id == row.statement && known.is_active();
  });
  if (s == statements.end())
    refuse(path, row,
           fmt::format("'{}' is no active statement; allowed: those of requirements.csv",
                       row.statement));
  return &*s;
}
}  // namespace

std::vector<Statement> load_statements(const std::string& path) {
  using S = Statement;
  static constexpr std::array columns{Column<S>{"id", &S::id},
                                      Column<S>{"ibta", &S::ibta, {{}, {}, true}},
                                      Column<S>{"group", &S::group, {kGroups, {}}},
                                      Column<S>{"section", &S::section},
                                      Column<S>{"services", &S::services, {kNoService, kServices}},
                                      Column<S>{"role", &S::role, {kRoles, {}}},
                                      Column<S>{"applies", &S::applies, {kAppliesTo, {}}},
                                      Column<S>{"framing", &S::framing, {kAllFramings, kFramings}},
                                      Column<S>{"status", &S::status, {kStates, {}}},
                                      Column<S>{"kind", &S::kind, {kKinds, {}}},
                                      Column<S>{"statement", &S::text},
                                      Column<S>{"observable", &S::observable},
                                      Column<S>{"source", &S::source},
                                      Column<S>{"mutant", &S::mutant, {{}, {}, true}}};
  std::vector<Statement> all = load(path, columns);
  std::map<std::string_view, std::size_t> lines;
  for (S& s : all) {
    if (const auto [first, is_new] = lines.emplace(s.id, s.line); !is_new)
      throw std::runtime_error(fmt::format("{}:{}: id '{}' occurs twice, first in line {}", path,
                                           s.line, s.id, first->second));
    s.mutants = names_in(path, s, "mutant", s.mutant, "different names separated by ';'", is_text);
    s.ibta_numbers = names_in(path, s, "ibta", s.ibta,
                              "different numbers of the standard (C9-57, o9-5.2.1) separated by "
                              "';'",
                              is_ibta_number);
    if (is_ibta_number(s.id) && (s.ibta_numbers.empty() || s.ibta_numbers[0] != s.id))
      refuse(
          path, s,
          fmt::format("ibta '{}' of {}; allowed: {}, perhaps more after it", s.ibta, s.id, s.id));
  }
  return all;
}

std::vector<Survivor> load_survivors(const std::string& path,
                                     std::span<const Statement> statements) {
  using S = Survivor;
  static constexpr std::array columns{Column<S>{"statement", &S::statement},
                                      Column<S>{"mutant", &S::mutant},
                                      Column<S>{"reason", &S::reason}};
  const std::vector<S> all = load(path, columns);
  for (const S& row : all) {
    const Statement* const s = active(path, row, statements);
    if (!std::count(s->mutants.begin(), s->mutants.end(), row.mutant))
      refuse(path, row,
             fmt::format("'{}' is no mistake of {}; allowed: {}", row.mutant, row.statement,
                         s->mutants.empty() ? "none: it has none" : s->mutant));
    for (const S& other : all)
      if (&other != &row && other.statement == row.statement && other.mutant == row.mutant &&
          other.line < row.line)
        refuse(path, row,
               fmt::format("{} and '{}' occur twice, first in line {}", row.statement, row.mutant,
                           other.line));
  }
  return all;
}

std::vector<Missing> load_missing(const std::string& path, std::span<const Statement> statements) {
  using M = Missing;
  static constexpr std::array columns{Column<M>{"statement", &M::statement},
                                      Column<M>{"missing", &M::what}};
  const std::vector<M> all = load(path, columns);
  for (const M& row : all) {
    active(path, row, statements);
    for (const M& other : all)
      if (other.line < row.line && other.statement == row.statement)
        refuse(path, row,
               fmt::format("{} occurs twice, first in line {}", row.statement, other.line));
  }
  return all;
}
}  // namespace hca::testbench
