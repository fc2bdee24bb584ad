// SPDX-License-Identifier: Apache-2.0
// hca run --attach: a program of the verbs on the HCAs of an `hca serve`.
#include "testbench/cli/attach.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "testbench/cli/attached_program.h"
#include "testbench/cli/server_link.h"

namespace hca::cli {
namespace {
constexpr const char *kVerbs = "libhca_verbs.so", *kClocks = "libhca_time.so",
                     *kFiles = "libhca_files.so", *kReplacement = "hca_replacement/libibverbs.so.1";
// Where the libraries lie, from the folder of this program: as it is built, as it is installed.
constexpr std::array kLibraryFolders{".", HCA_LIBRARY_FROM_PROGRAM};

std::string library(const char* name) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const char* folder : kLibraryFolders)
    if (const auto found = here / folder / name; std::filesystem::exists(found))
      return std::filesystem::canonical(found);
  throw std::runtime_error(
      fmt::format("--attach: there is no {} beside {}", name, (here / "hca").string()));
}

void check_device(const std::string& device, const attach::DeviceList& list) {
  std::string names;
  for (u32 i = 0; i < list.count; ++i) {
    if (device == list.name[i].data()) return;
    names += std::string(i ? ", " : "") + list.name[i].data();
  }
  throw std::runtime_error(fmt::format("--device: '{}' is none of {}", device, names));
}
}  // namespace

void add_attach_options(CLI::App& command, AttachArguments& options) {
  CLI::Option* attach = command.add_option(
      "--attach", options.socket,
      "run the program after `--` on the HCAs of the `hca serve` at this socket");
  command.add_option("program", options.arguments, "with --attach: -- PROGRAM ARGUMENTS")
      ->needs(attach);
  command.add_option("--device", options.device, "with --attach: the only HCA that it sees")
      ->needs(attach);
  command.add_option("--time", options.time, "with --attach: the clock that it sees: sim, wall")
      ->needs(attach)
      ->check(CLI::IsMember({"sim", "wall"}));
  command
      .add_option("--library", options.library,
                  "with --attach: how the program finds the verbs: preload, before those of the "
                  "system; replace, instead of its libibverbs.so.1, also for dlopen()")
      ->needs(attach)
      ->check(CLI::IsMember({"preload", "replace"}));
  command
      .add_flag("--strict-time", options.strict_time,
                "with --attach: exit code 125, and a line that names the thread and where it was, "
                "if simulated time ever went on without a thread that had its turn")
      ->needs(attach);
  const CLI::Range seconds(0.0, 1e6);
  command
      .add_option("--wait", options.wait,
                  "with --attach: seconds to wait for a server that is not ready yet")
      ->needs(attach)
      ->check(seconds);
  command
      .add_option("--timeout", options.timeout,
                  "with --attach: time limit of the program in seconds of real time, then exit "
                  "code 124; 0: none")
      ->needs(attach)
      ->check(seconds);
}

namespace {
// Steps that a thread took without its turn may differ in another run. 0: there were none.
int check_strictly(const std::string& program, const attach::RunSteps& steps) {
  if (!steps.lost) return 0;
  fmt::print(stderr,
             "hca: --strict-time: simulated time went on {} time{} without a thread of '{}' that "
             "had its turn, first {}\n",
             steps.lost, steps.lost == 1 ? "" : "s", program, steps.first.data());
  return kNotStrict;
}

// Puts `paths` before the environment's value.
void put_in_front(const char* variable, std::string paths) {
  const char* before = std::getenv(variable);
  if (before && *before) paths += (paths.empty() ? "" : ":") + std::string(before);
  if (!paths.empty()) setenv(variable, paths.c_str(), 1);
}

void set_libraries(const AttachArguments& options) {
  const bool replace = options.library == "replace";
  std::string preload = library(kFiles);
  if (!replace) preload = library(kVerbs) + ":" + preload;
  if (options.time == "sim") preload += ":" + library(kClocks);
  put_in_front("LD_PRELOAD", preload);
  if (replace)
    put_in_front("LD_LIBRARY_PATH",
                 std::filesystem::path(library(kReplacement)).parent_path().string());
}

// AddressSanitizer wants its library to be the first; it need not be.
void let_sanitizer() {
  const char* const before = std::getenv("ASAN_OPTIONS");
  setenv(
      "ASAN_OPTIONS",
      ((before && *before ? std::string(before) + ":" : "") + "verify_asan_link_order=0").c_str(),
      1);
}

// When nothing of the program has opened a device: how far it has come.
void tell_unopened(const std::string& program, const attach::RunSteps& steps, int status) {
  if (steps.devices) return;
  const char* const what = steps.lists   ? "it has listed the devices"
                           : steps.files ? "it has looked at their files"
                                         : "it has not asked for one";
  const std::string by = WIFSIGNALED(status) ? fmt::format(" by signal {} ({})", WTERMSIG(status),
                                                           sigdescr_np(WTERMSIG(status)))
                                             : "";
  fmt::print(stderr, "hca: '{}' has ended{} without having opened a device: {}\n", program, by,
             what);
}

void set_environment(const AttachArguments& options, u32 run) {
  set_libraries(options);
  let_sanitizer();
  setenv(attach::kSocketVariable, std::filesystem::absolute(options.socket).c_str(), 1);
  setenv(attach::kRunVariable, std::to_string(run).c_str(), 1);
  setenv(attach::kReplacementVariable, library(kReplacement).c_str(), 1);
  if (options.device.empty())
    unsetenv(attach::kDevicesVariable);
  else
    setenv(attach::kDevicesVariable, options.device.c_str(), 1);
}
}  // namespace

int run_attached(const std::string& program, const AttachArguments& options) {
  if (program.empty()) throw std::runtime_error("--attach: no program is given after `--`");
  const ServerLink server(options.socket, options.wait);
  const auto list = attach::get<attach::DeviceList>(server.ask(attach::Verb::ListDevices).body);
  if (!options.device.empty()) check_device(options.device, list);
  if (const std::string why = why_without_libraries(program); !why.empty())
    throw std::runtime_error(
        fmt::format("--attach: '{}' {}: the verbs cannot be loaded into it", program, why));
  const bool simulated = options.time == "sim";
  if (options.strict_time && !simulated)
    throw std::runtime_error("--strict-time: is given with --time=wall; allowed: --time=sim");
  set_environment(options, server.ask(attach::Verb::BeginRun, simulated).number);
  std::vector<std::string> command{program};
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  return run_program(command, {options.timeout, simulated}, [&](int status) {
    try {
      const auto steps = attach::get<attach::RunSteps>(server.ask(attach::Verb::QueryRun).body);
      tell_unopened(program, steps, status);
      return options.strict_time ? check_strictly(program, steps) : 0;
    } catch (const std::runtime_error&) {  // the server is gone: the program has said so
      return options.strict_time ? kNotStrict : 0;
    }
  });
}
}  // namespace hca::cli
