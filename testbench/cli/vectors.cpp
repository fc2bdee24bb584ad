// SPDX-License-Identifier: Apache-2.0
// hca vectors coverage: which statements of the specification the vectors show. hca vectors export:
// the vectors for other test benches. hca vectors matrix: those of each error class.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <filesystem>
#include <memory>

#include "testbench/cli/commands.h"
#include "testbench/text/text_file.h"
#include "testbench/vectors/coverage.h"
#include "testbench/vectors/export.h"
#include "testbench/vectors/filter.h"
#include "testbench/vectors/inputs.h"
#include "testbench/vectors/matrix.h"

namespace hca::cli {
using namespace testbench;

namespace {
// " (C9-142;C9-143)": if they are others than its id.
std::string other_numbers_of(const Statement& s) {
  return s.ibta.empty() || s.ibta == s.id ? "" : fmt::format(" ({})", s.ibta);
}

struct VectorsArguments {
  std::vector<std::string> paths{"vectors"};
  std::string json_path, html_path;
  CoverageOptions coverage;
};

int show_coverage(const VectorsArguments& options) {
  const auto list = find_beside(options.paths, "requirements.csv");
  if (!list) throw std::runtime_error("no path holds requirements.csv; allowed: the folder of it");
  std::vector<VectorReport> reports;
  ReplayInputs in = find_inputs(options.paths);
  const std::vector<Statement> statements = load_statements(*list);
  check_statements(in, statements);
  for (const Unreadable& u : in.unreadable) fmt::print(stderr, "hca: {}\n", u.what);
  if (!in.unreadable.empty()) return kBadInput;
  for (const Vector& v : in.vectors) reports.push_back(run_vector(v));
  Coverage coverage = cover(statements, reports, options.coverage);
  std::size_t explained = 0;
  if (const auto path = find_beside(options.paths, "missing.csv"))
    for (const Missing& missing : load_missing(*path, statements))
      for (CoverageRow& row : coverage.rows)
        if (row.statement.id == missing.statement && row.verdict == Verdict::None) {
          row.how = missing.what;
          ++explained;
        }
  if (!options.json_path.empty())
    write_text_file(options.json_path, json_of(coverage).dump(1) + '\n');
  if (!options.html_path.empty()) write_text_file(options.html_path, html_of(coverage));
  fmt::print("{} vectors, {} active statements: {} rows without {} of TCAs alone and {} obsolete\n",
             reports.size(), coverage.rows.size(), coverage.listed, coverage.of_tcas,
             coverage.obsolete);
  for (const Verdict v : {Verdict::Passing, Verdict::Survived, Verdict::UnknownMutant,
                          Verdict::NoMutant, Verdict::Failing, Verdict::None})
    fmt::print("  {:<15} {:>4}{}\n", name_of(v), coverage.count(v),
               v == Verdict::None && explained
                   ? fmt::format(", {} of them with what is missing in missing.csv", explained)
                   : "");
  for (const CoverageRow& row : coverage.rows)
    if (row.verdict == Verdict::Survived || row.verdict == Verdict::UnknownMutant)
      fmt::print("{}{}: {}\n", row.statement.id, other_numbers_of(row.statement), row.how);
  for (const auto& [mutant, ids] : coverage.died)
    fmt::print("noticed only by a crash or hang: {} ({})\n", mutant, fmt::join(ids, ", "));
  return coverage.count(Verdict::Failing) ? kCheckFailed : kSucceeded;
}

struct ExportArguments {
  std::string folder, filter;
  std::vector<std::string> paths{"vectors"};
  u32 beat_bytes = kBeatBytes;
};

void write_files(const ExportArguments& options, const ExportedVector& exported) {
  const std::filesystem::path file = std::filesystem::path(options.folder) / exported.vector->name;
  make_folder(file.parent_path().string());
  const auto named = [&](const char* suffix) { return file.string() + suffix; };
  write_text_file(named(".json"), json_of(exported).dump(1) + '\n');
  if (exported.frames.empty()) return;
  write_pcapng(named(".pcapng"), exported);
  write_text_file(named(".beats.hex"), beats_of(exported, options.beat_bytes));
  write_text_file(named(".packets.hex"), packets_of(exported, options.beat_bytes));
}

int export_all(const ExportArguments& options) {
  if (options.beat_bytes > kMostBeatBytes || !std::has_single_bit(options.beat_bytes))
    throw std::runtime_error(fmt::format("--beat-bytes: is {}; allowed: a power of two, 1 .. {}",
                                         options.beat_bytes, kMostBeatBytes));
  ReplayInputs in = find_inputs(options.paths);
  if (const auto list = find_beside(options.paths, "requirements.csv"))
    check_statements(in, load_statements(*list));
  for (const Unreadable& u : in.unreadable) fmt::print(stderr, "hca: {}\n", u.what);
  if (!in.unreadable.empty()) return kBadInput;
  const VectorFilter filter(options.filter);
  filter.must_take_one(in.vectors);
  std::vector<ExportedVector> all;
  std::size_t failed = 0;
  for (const Vector& v : in.vectors) {
    if (!filter.takes(v)) continue;
    try {
      all.push_back(export_vector(v));
    } catch (const std::runtime_error& error) {
      fmt::print(stderr, "hca: {}: not exported\n", error.what());
      ++failed;
    }
  }
  std::size_t silent = 0;
  make_folder(options.folder);
  for (const ExportedVector& e : all) {
    write_files(options, e);
    if (e.frames.empty()) {
      ++silent;
      fmt::print("sends and receives nothing: {}\n", e.vector->name);
    }
  }
  write_text_file((std::filesystem::path(options.folder) / "index.csv").string(), index_of(all));
  fmt::print("{} vectors in {}, {} of them without frames\n", all.size(), options.folder, silent);
  return failed ? kCheckFailed : kSucceeded;
}

// The page of docs/generated/.
int print_matrix(const std::vector<std::string>& paths) {
  const auto list = find_beside(paths, "requirements.csv");
  if (!list) throw std::runtime_error("no path holds requirements.csv; allowed: the folder of it");
  const ReplayInputs in = find_inputs(paths);
  for (const Unreadable& u : in.unreadable) fmt::print(stderr, "hca: {}\n", u.what);
  fmt::print(
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!-- Made by `hca vectors matrix`: "
      "change the vectors, not this file. -->\n{}",
      matrix_page(load_statements(*list), in.vectors, "../../vectors/"));
  return in.unreadable.empty() ? kSucceeded : kBadInput;
}

void add_matrix(CLI::App& command, int& exit_code) {
  auto paths = std::make_shared<std::vector<std::string>>(1, "vectors");
  command.add_option("paths", *paths, "vectors, and folders of them")
      ->check(CLI::ExistingPath)
      ->capture_default_str();
  command.callback([paths, &exit_code] {
    if (const int code = print_matrix(*paths); code != kSucceeded) exit_code = code;
  });
}

void add_export(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<ExportArguments>();
  command.add_option("folder", options->folder, "where the files go")->required();
  command.add_option("paths", options->paths, "vectors, and folders of them")
      ->check(CLI::ExistingPath)
      ->capture_default_str();
  command.add_option("--filter", options->filter, "only these, as hca replay --filter has them");
  command.add_option("--beat-bytes", options->beat_bytes, "bytes of a word of *.beats.hex")
      ->capture_default_str();
  command.callback([options, &exit_code] {
    if (const int code = export_all(*options); code != kSucceeded) exit_code = code;
  });
}
}  // namespace

void add_vectors(CLI::App& command, int& exit_code) {
  command.require_subcommand(1);
  add_export(*command.add_subcommand(
                 "export", "each vector as pcapng, as $readmemh files and as JSON with its frames"),
             exit_code);
  add_matrix(*command.add_subcommand(
                 "matrix", "the vectors by service, operation and error class, as a page"),
             exit_code);
  CLI::App* coverage = command.add_subcommand(
      "coverage", "each active statement with its vectors and whether its mistake is noticed");
  auto options = std::make_shared<VectorsArguments>();
  coverage
      ->add_option("paths", options->paths, "folders and files; one folder holds requirements.csv")
      ->check(CLI::ExistingPath)
      ->capture_default_str();
  coverage->add_option("--json", options->json_path, "write the matrix there");
  coverage->add_option("--html", options->html_path, "write it there as a page");
  coverage->add_option("--jobs", options->coverage.jobs, "mistakes at once")
      ->check(CLI::Range(1, 256));
  coverage->callback([options, &exit_code] {
    if (const int code = show_coverage(*options); code != kSucceeded) exit_code = code;
  });
}
}  // namespace hca::cli
