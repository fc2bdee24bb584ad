// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/attached_program.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace hca::cli {
namespace {
namespace fs = std::filesystem;

// "": nowhere.
fs::path find_program(const std::string& name) {
  if (name.find('/') != name.npos) return name;
  const char* const variable = std::getenv("PATH");
  std::istringstream folders(variable ? variable : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / name;
    if (access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file)) return file;
  }
  return {};
}

bool has_interpreter(std::ifstream& file, const Elf64_Ehdr& head) {
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part;
    file.seekg(std::streamoff(head.e_phoff + i * sizeof part));
    if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return true;  // not ours to judge
    if (part.p_type == PT_INTERP) return true;
  }
  return false;
}

std::string why_not(const fs::path& path, int depth) {
  constexpr int kMostScripts = 4;  // as Linux has it
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head{};
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  if (std::memcmp(head.e_ident, "#!", 2) == 0 && depth < kMostScripts) {
    file.clear();
    file.seekg(2);
    std::string line, interpreter;
    std::getline(file, line);
    std::istringstream(line) >> interpreter;
    return why_not(interpreter, depth + 1);
  }
  if (file.gcount() != sizeof head || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return "";
  if (head.e_ident[EI_CLASS] != ELFCLASS64) return "is a program of 32 bits";
  if (!has_interpreter(file, head)) return "is statically linked";
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && status.st_mode & (S_ISUID | S_ISGID) && geteuid() != 0)
    return "runs with the rights of another user (set-user-ID)";
  return "";
}

// ---- Signals
volatile pid_t g_program = 0;
volatile std::sig_atomic_t g_alarmed = 0;

// Signals of a terminal reach the program by themselves: it is of the same process group.
void pass_on(int signal, siginfo_t* info, void*) {
  if (info->si_code != SI_KERNEL && g_program) kill(g_program, signal);
}
constexpr std::array kPassedOn{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                               SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
sigset_t passed_on() {
  sigset_t all;
  sigemptyset(&all);
  for (const int signal : kPassedOn) sigaddset(&all, signal);
  return all;
}
// Signals that the shell, or nohup, has set to be ignored are ignored by the program as well.
void handle_signals() {
  for (const int signal : kPassedOn) {
    struct sigaction before {
    }, ours{};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    ours.sa_sigaction = pass_on;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(signal, &ours, nullptr);
  }
  struct sigaction alarmed {};  // without SA_RESTART: waitpid() comes back
  alarmed.sa_handler = [](int) { g_alarmed = 1; };
  sigaction(SIGALRM, &alarmed, nullptr);
}

// A process and all that it has started and that has not left it.
void signal_all(pid_t process, int signal) {
  const std::string tasks = fmt::format("/proc/{}/task", process);
  std::error_code error;
  std::vector<pid_t> children;
  for (const auto& thread : fs::directory_iterator(tasks, error)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child; file >> child;) children.push_back(child);
  }
  kill(process, signal);
  for (const pid_t child : children) signal_all(child, signal);
}

void set_alarm(double seconds) {
  const auto whole = time_t(seconds);
  const itimerval timer{{0, 0}, {whole, suseconds_t((seconds - double(whole)) * 1e6)}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// Returns the status of waitpid(). `timed_out`: the program was ended because it took too long.
int wait_for(pid_t program, bool& timed_out) {
  constexpr double kGrace = 5;
  int status = 0;
  while (waitpid(program, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(fmt::format("waitpid: {}", std::strerror(errno)));
    if (!g_alarmed) continue;
    g_alarmed = 0;
    signal_all(program, timed_out ? SIGKILL : SIGTERM);
    timed_out = true;
    set_alarm(kGrace);
  }
  set_alarm(0);
  return status;
}

// As the program ended: by the same signal, without a core of this process.
int end_by(int signal) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);
  raise(signal);
  return kBySignal + signal;
}

// In each run memory has the same addresses: which pages a buffer of a stack lies on decides what
// its registration takes. A container may refuse that.
void keep_addresses() {
  constexpr unsigned long kAsk = 0xffffffff;
  const int is = personality(kAsk);
  if (is >= 0) personality(static_cast<unsigned long>(is) | ADDR_NO_RANDOMIZE);
}

[[noreturn]] void become(const std::vector<std::string>& command, int report) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  if (write(report, &error, sizeof error) < 0) _exit(127);
  _exit(127);
}
}  // namespace

std::string why_without_libraries(const std::string& program) {
  const fs::path path = find_program(program);
  return path.empty() ? "" : why_not(path, 0);
}

int run_program(const std::vector<std::string>& command, const RunOptions& options,
                const std::function<int(int)>& ended) {
  int report[2];  // errno's value, if it cannot be started
  if (pipe2(report, O_CLOEXEC)) throw std::runtime_error(std::strerror(errno));
  std::fflush(nullptr);
  const sigset_t held = passed_on();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &held, &before);
  const pid_t parent = getpid(), program = fork();
  if (program < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
  if (program == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kBySignal + SIGKILL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (options.keeps_addresses) keep_addresses();
    become(command, report[1]);
  }
  close(report[1]);
  g_program = program;
  handle_signals();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  int error = 0;
  const bool started = read(report[0], &error, sizeof error) != sizeof error;
  close(report[0]);
  bool timed_out = false;
  if (started && options.seconds > 0) set_alarm(options.seconds);
  const int status = wait_for(program, timed_out);
  g_program = 0;
  if (!started)
    throw std::runtime_error(fmt::format("--attach: '{}': {}", command[0], std::strerror(error)));
  const int instead = ended(timed_out ? 0 : status);
  if (timed_out) {
    fmt::print(stderr, "hca: --timeout: '{}' was ended after {} s\n", command[0], options.seconds);
    return kTimedOut;
  }
  if (instead) return instead;
  return WIFSIGNALED(status) ? end_by(WTERMSIG(status)) : WEXITSTATUS(status);
}
}  // namespace hca::cli
