// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/requirements.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

#include "testbench/text_file.h"

namespace hca::testbench {
namespace {
using Row = std::vector<std::string>;
struct Rows {
  Row now;
  std::vector<Row> all;
};

std::vector<Row> rows_of(const std::string& path, const std::string& text) {
  csv_parser parser;
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI))
    throw std::runtime_error(path + ": no memory");
  Rows rows;
  const auto field = [](void* bytes, std::size_t size, void* to) {
    static_cast<Rows*>(to)->now.emplace_back(static_cast<const char*>(bytes), size);
  };
  const auto end = [](int, void* to) {
    auto& r = *static_cast<Rows*>(to);
    r.all.push_back(std::move(r.now));
    r.now.clear();
  };
  const bool good =
      csv_parse(&parser, text.data(), text.size(), field, end, &rows) == text.size() &&
      csv_fini(&parser, field, end, &rows) == 0;
  const std::string problem = csv_strerror(csv_error(&parser));
  csv_free(&parser);
  if (!good)
    throw std::runtime_error(fmt::format("{}: row {}: {}", path, rows.all.size() + 1, problem));
  return std::move(rows.all);
}
template <class T>
struct Column {
  const char* name;
  std::string T::*member;
};
// The rows of a file by the columns of its first line.
template <class T, std::size_t N>
std::vector<T> load(const std::string& path, const std::array<Column<T>, N>& columns) {
  const auto text = read_text_file(path);
  if (!text) throw std::runtime_error(path + ": cannot be read");
  const std::vector<Row> rows = rows_of(path, *text);
  if (rows.empty()) throw std::runtime_error(path + ": is empty");
  std::array<std::size_t, N> places;
  for (std::size_t i = 0; i < N; ++i) {
    const auto found = std::find(rows[0].begin(), rows[0].end(), columns[i].name);
    if (found == rows[0].end())
      throw std::runtime_error(path + ": row 1: has no column " + columns[i].name);
    places[i] = std::size_t(found - rows[0].begin());
  }
  std::vector<T> all;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].size() != rows[0].size())
      throw std::runtime_error(fmt::format("{}: row {}: {} columns; allowed: {}", path, i + 1,
                                           rows[i].size(), rows[0].size()));
    T& made = all.emplace_back();
    for (std::size_t c = 0; c < N; ++c) made.*columns[c].member = rows[i][places[c]];
  }
  return all;
}
}  // namespace

std::vector<Statement> load_statements(const std::string& path) {
  using S = Statement;
  static constexpr std::array columns{
      Column<S>{"id", &S::id},           Column<S>{"group", &S::group},
      Column<S>{"section", &S::section}, Column<S>{"services", &S::services},
      Column<S>{"role", &S::role},       Column<S>{"applies", &S::applies},
      Column<S>{"status", &S::status},   Column<S>{"kind", &S::kind},
      Column<S>{"statement", &S::text},  Column<S>{"mutant", &S::mutant}};
  std::vector<Statement> all = load(path, columns);
  for (std::size_t i = 0; i < all.size(); ++i) {
    S& s = all[i];
    std::istringstream names(s.mutant);
    for (std::string name; std::getline(names, name, ';'); s.mutants.push_back(name))
      if (name.empty() || std::count(s.mutants.begin(), s.mutants.end(), name))
        throw std::runtime_error(
            fmt::format("{}: row {}: mutant '{}'; allowed: different names separated by ';'", path,
                        i + 2, s.mutant));
    if (s.mutant.ends_with(';'))
      throw std::runtime_error(
          fmt::format("{}: row {}: mutant '{}' ends with ';'; allowed: a name behind it", path,
                      i + 2, s.mutant));
  }
  return all;
}

std::vector<Survivor> load_survivors(const std::string& path) {
  using S = Survivor;
  static constexpr std::array columns{Column<S>{"statement", &S::statement},
                                      Column<S>{"mutant", &S::mutant},
                                      Column<S>{"reason", &S::reason}};
  return load(path, columns);
}
}  // namespace hca::testbench
