// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/parts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "testbench/cli/commands.h"

namespace hca::cli {
namespace {
namespace fs = std::filesystem;
// Set for a program that was started again: the parts that were built for it, or could not be.
constexpr const char* kTried = "HCA_TRIED_PARTS";

bool was_tried(const std::string& part) {
  const char* tried = std::getenv(kTried);
  return tried && (' ' + std::string(tried) + ' ').find(' ' + part + ' ') != std::string::npos;
}
void note_tried(const std::string& part) {
  const char* tried = std::getenv(kTried);
  setenv(kTried, ((tried ? std::string(tried) + ' ' : "") + part).c_str(), 1);
}

// True: the folder that this program was built in is still there, and it is this program.
bool is_in_its_build_folder(const fs::path& program) {
  std::error_code none;
  return fs::exists(HCA_BUILD_FOLDER "/CMakeCache.txt", none) &&
         fs::exists(HCA_SOURCE_FOLDER "/scripts/part.sh", none) &&
         fs::equivalent(program.parent_path(), HCA_BUILD_FOLDER, none);
}

// The script's output goes to stderr. True: it ended well.
bool run_script(const std::string& part) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // it ends with this program
    dup2(STDERR_FILENO, STDOUT_FILENO);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    execl(HCA_SOURCE_FOLDER "/scripts/part.sh", "part.sh", HCA_BUILD_FOLDER, part.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
// The missing part was detected only after reading input that cannot be read again, such as a
// scenario in a pipe.
bool has_read_its_input(const testbench::MissingPart& missing) {
  struct stat input {};
  const bool is_command = missing.asked_for.starts_with("hca ");
  return !is_command && missing.part != "page" && fstat(STDIN_FILENO, &input) == 0 &&
         S_ISFIFO(input.st_mode);
}
}  // namespace

void leave_to_part(CLI::App& command, const std::string& part) {
  command.prefix_command();
  command.set_help_flag();
  const std::string what = "hca " + command.get_name();
  command.callback([part, what] { throw testbench::MissingPart(part, what); });
}

void want_page(std::string_view page) {
  if (page.empty() && !was_tried("page")) throw testbench::MissingPart("page", "--out");
}

int build_and_start_again(const testbench::MissingPart& missing, char** arguments) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const bool may_go_without = missing.part == "page";
  if (was_tried(missing.part) || !is_in_its_build_folder(program)) {
    if (!may_go_without) {
      fmt::print(stderr, "hca: {}; a build with -DHCA_PARTS=all has all of them\n", missing.what());
      return kBadInput;
    }
  } else {
    fmt::print(stderr,
               "hca: {} needs the part \"{}\" of this program, which is built now that it is first "
               "used, in {}: scripts/part.sh {} {}\n",
               missing.asked_for, missing.part,
               missing.part == "rtl" ? "some minutes" : "about a minute", HCA_BUILD_FOLDER,
               missing.part);
    if (!run_script(missing.part) && !may_go_without) {
      fmt::print(stderr, "hca: the part \"{}\" could not be built\n", missing.part);
      return kBadInput;
    }
  }
  if (has_read_its_input(missing)) {
    fmt::print(stderr,
               "hca: the part \"{}\" is built; start this command again, its input is read\n",
               missing.part);
    return kBadInput;
  }
  note_tried(missing.part);
  execv(program.c_str(), arguments);
  fmt::print(stderr, "hca: {} could not be started again\n", program.string());
  return kBadInput;
}
}  // namespace hca::cli
