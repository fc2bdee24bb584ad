// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <systemc>

#include "testbench/cli/commands.h"

namespace {
// Before libsystemc's main() prints its banner.
const int kNoBanner = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
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
    return app.exit(error) == 0 ? hca::cli::kSucceeded : hca::cli::kBadInput;
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
