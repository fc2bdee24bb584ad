// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <systemc>

#include "model/engine/knob_text.h"
#include "testbench/cli/commands.h"

namespace {
// Before libsystemc's main() prints its banner.
const int kNoBanner = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);

// The command that needs a subcommand and got none, or another word.
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

// libsystemc brings main(). What goes wrong ends here as one line on stderr.
int sc_main(int argc, char** argv) {
  static_cast<void>(kNoBanner);
  CLI::App app{"hca: a cycle-accurate model of an RDMA host channel adapter"};
  app.require_subcommand(1);
  int exit_code = hca::cli::kSucceeded;
  hca::cli::add_run(app, exit_code);
  hca::cli::add_serve(app, exit_code);
  hca::cli::add_calibrate(app, exit_code);
  hca::cli::add_sweep(app, exit_code);
  hca::cli::add_compare(app, exit_code);
  hca::cli::add_config(app, exit_code);
  hca::cli::add_decode(app, exit_code);
  hca::cli::add_docs(app, exit_code);
  hca::cli::add_replay(app, exit_code);
  hca::cli::add_vectors(app, exit_code);
#ifdef HCA_BUILD_RTL
  hca::cli::add_rtl(app, exit_code);
#endif
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_of(app, error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hca: %s\n", error.what());
    return hca::cli::kBadInput;
  }
  // What was asked for is done only when it could be written.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "hca: the output could not be written\n");
    return hca::cli::kBadInput;
  }
  return exit_code;
}
