// SPDX-License-Identifier: Apache-2.0
// hca run --attach: a program of the verbs on the HCAs of an `hca serve`.
#include "testbench/cli/attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "testbench/attach/packet_socket.h"

namespace hca::cli {
namespace {
constexpr const char *kVerbs = "libhca_verbs.so", *kClocks = "libhca_time.so",
                     *kReplacement = "hca_replacement/libibverbs.so.1";
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

attach::DeviceList devices_at(const std::string& socket) {
  attach::Request request;
  request.verb = attach::Verb::ListDevices;
  attach::Reply reply;
  const attach::Descriptor server = attach::connect_to(socket);
  if (!server || !attach::send_message(server.get(), request) ||
      !attach::receive_message(server.get(), reply))
    throw std::runtime_error(attach::no_server(socket, errno));
  return attach::get<attach::DeviceList>(reply.body);
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
      "run the program behind `--` on the HCAs of the `hca serve` that serves this socket");
  command.add_option("program", options.arguments, "with --attach: -- PROGRAM ARGUMENTS")
      ->needs(attach);
  command.add_option("--device", options.device, "with --attach: the only HCA that it sees")
      ->needs(attach);
  command.add_option("--time", options.time, "with --attach: the clock that it sees: sim, wall")
      ->needs(attach)
      ->check(CLI::IsMember({"sim", "wall"}));
  command
      .add_option("--library", options.library,
                  "with --attach: how the program finds the verbs: preload, in front of those of "
                  "the system; replace, in the place of its libibverbs.so.1, for dlopen() too")
      ->needs(attach)
      ->check(CLI::IsMember({"preload", "replace"}));
}

namespace {
// `paths`, in front of those that the environment has there.
void put_in_front(const char* variable, std::string paths) {
  const char* before = std::getenv(variable);
  if (before && *before) paths += (paths.empty() ? "" : ":") + std::string(before);
  if (!paths.empty()) setenv(variable, paths.c_str(), 1);
}

void set_libraries(const AttachArguments& options) {
  const bool replace = options.library == "replace";
  std::string preload = replace ? "" : library(kVerbs);
  if (options.time == "sim") preload += (replace ? "" : ":") + library(kClocks);
  put_in_front("LD_PRELOAD", preload);
  if (replace)
    put_in_front("LD_LIBRARY_PATH",
                 std::filesystem::path(library(kReplacement)).parent_path().string());
}
}  // namespace

int run_attached(const std::string& program, const AttachArguments& options) {
  if (program.empty()) throw std::runtime_error("--attach: no program is given behind `--`");
  const attach::DeviceList list = devices_at(options.socket);
  if (!options.device.empty()) check_device(options.device, list);
  set_libraries(options);
  setenv(attach::kSocketVariable, std::filesystem::absolute(options.socket).c_str(), 1);
  if (options.device.empty())
    unsetenv(attach::kDevicesVariable);
  else
    setenv(attach::kDevicesVariable, options.device.c_str(), 1);
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& argument : options.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(program.c_str(), arguments.data());
  throw std::runtime_error(fmt::format("--attach: '{}': {}", program, std::strerror(errno)));
}
}  // namespace hca::cli
