// SPDX-License-Identifier: Apache-2.0
#include "rtl/generator/sv_package.h"
#include "testbench/cli/lockstep_command.h"
#include "testbench/lockstep/completion_lockstep.h"
#include "testbench/lockstep/icrc_lockstep.h"
#include "testbench/lockstep/packetizer_lockstep.h"
#include "testbench/lockstep/requester_psn_lockstep.h"
#include "testbench/lockstep/responder_check_lockstep.h"
#include "testbench/lockstep/rx_parser_lockstep.h"

namespace hca::cli {
namespace {
// The subcommand of one block.
template <class Pair>
void add_block(CLI::App& rtl, int& exit_code) {
  add_lockstep<Pair>(
      *rtl.add_subcommand(Pair::kName,
                          fmt::format("rtl/{0}/{0}.sv against {1}, compared in every cycle",
                                      Pair::kName, Pair::kTwin)),
      exit_code);
}
}  // namespace

void add_rtl(CLI::App& rtl, int& exit_code) {
  rtl.require_subcommand(1);
  add_block<testbench::IcrcLockstep>(rtl, exit_code);
  add_block<testbench::PacketizerLockstep>(rtl, exit_code);
  add_block<testbench::RxParserLockstep>(rtl, exit_code);
  add_block<testbench::RequesterPsnLockstep>(rtl, exit_code);
  add_block<testbench::ResponderCheckLockstep>(rtl, exit_code);
  add_block<testbench::CompletionLockstep>(rtl, exit_code);

  CLI::App* package =
      rtl.add_subcommand("package", "print rtl/common/hca_pkg.sv, made from the tables");
  package->callback([&exit_code] {
    fmt::print("{}", testbench::hca_pkg_sv());
    exit_code = kSucceeded;
  });
}
}  // namespace hca::cli
