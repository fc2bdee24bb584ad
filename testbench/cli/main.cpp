// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <systemc>

#include "model/engine/knob_text.h"
#include "testbench/cli/commands.h"
#include "testbench/cli/parts.h"

namespace {
// Before libsystemc's main() prints its banner.
const int kNoBanner = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);

// A command, and the function that adds its options.
struct Row {
  const char *name, *sentence;
  void (*add)(CLI::App& command, int& exit_code);
};
constexpr std::array kCommands{
    Row{"run", "simulate two HCAs: bandwidth, message rate, latency, and where the time goes",
        hca::cli::add_run},
    Row{"serve", "simulate two HCAs for verbs programs, which `hca run --attach` starts",
        hca::cli::add_serve},
    Row{"faults", "inject lost frames and failing calls into a running `hca serve`",
        hca::cli::add_faults},
    Row{"calibrate", "compare published measurements of real adapters with the presets",
        hca::cli::add_calibrate},
    Row{"sweep", "run a scenario at many points, and compare them", hca::cli::add_sweep},
    Row{"compare",
        "compare two results of hca run: knobs that differ, figures, and where the time went",
        hca::cli::add_compare},
    Row{"config", "print every knob with its default, range and meaning", hca::cli::add_config},
    Row{"decode", "show packets field by field, with their CRCs and the header rules they break",
        hca::cli::add_decode},
    Row{"docs", "write the documents that are generated from the model's tables",
        hca::cli::add_docs},
    Row{"replay", "replay vectors and captures, and check that the model behaves as they require",
        hca::cli::add_replay},
    Row{"vectors", "export the conformance vectors, or show their coverage", hca::cli::add_vectors},
    Row{"rtl", "run RTL blocks in lockstep with the model", hca::cli::add_rtl},
};

// Reports a command that needs a subcommand but got none, or an unknown word.
int exit_of(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().back();
  if (error.get_name() != "RequiredError" || last->get_require_subcommand_min() == 0)
    return app.exit(error) == 0 ? hca::cli::kSucceeded : hca::cli::kBadInput;
  std::vector<std::string_view> names;
  for (const CLI::App* command : last->get_subcommands({})) names.push_back(command->get_name());
  const std::vector<std::string> words = last->remaining();
  const std::string nearest = words.empty() ? "" : hca::engine::nearest_name(words[0], names);
  fmt::print(stderr, "hca: {}; allowed: {}{}\n",
             words.empty() ? "a command is missing" : fmt::format("\"{}\" is no command", words[0]),
             fmt::join(names, ", "),
             nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest));
  return hca::cli::kBadInput;
}
}  // namespace

// libsystemc provides main(). Every error ends here as one line on stderr.
int sc_main(int argc, char** argv) {
  static_cast<void>(kNoBanner);
  CLI::App app{"hca: a cycle-accurate model of an RDMA host channel adapter"};
  app.require_subcommand(1);
  int exit_code = hca::cli::kSucceeded;
  for (const Row& row : kCommands) row.add(*app.add_subcommand(row.name, row.sentence), exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_of(app, error);
  } catch (const hca::testbench::MissingPart& missing) {
    return hca::cli::build_and_start_again(missing, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hca: %s\n", error.what());
    return hca::cli::kBadInput;
  }
  // The command succeeded only if its output could be written.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "hca: the output could not be written\n");
    return hca::cli::kBadInput;
  }
  return exit_code;
}
