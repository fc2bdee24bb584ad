// SPDX-License-Identifier: Apache-2.0
#include "testbench/sweep/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <sstream>

#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

// FNV-1a: to notice a change, not to prove anything.
std::string digest_of(std::string_view text) {
  u64 hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ u8(c)) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

// The reason in a log: the failed checks, else the program's complaint, which continues to the end
// of the log, else the last line.
std::string reason_in(const std::string& log) {
  constexpr std::string_view kFailed = "FAILED: ", kComplaint = "hca: ";
  std::string failed, complaint, last;
  const auto add = [](std::string& to, std::string_view line) {
    if (!to.empty()) to += "; ";
    to += line;
  };
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line.starts_with(kFailed))
      add(failed, line.substr(kFailed.size()));
    else if (line.starts_with(kComplaint))
      add(complaint, line.substr(kComplaint.size()));
    else if (!complaint.empty())
      add(complaint, line);
    last = line;
  }
  return !failed.empty() ? failed : !complaint.empty() ? complaint : last;
}

std::string reason_of(int status, const std::string& log) {
  if (WIFSIGNALED(status))
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  const std::string said = reason_in(log);
  return fmt::format("exit code {}: {}", WEXITSTATUS(status), said.empty() ? "no word" : said);
}
}  // namespace

SweepStore::SweepStore(const SweepPlan& plan, std::string directory, std::string program)
    : plan_(plan),
      given_(std::move(directory)),
      directory_(fs::absolute(given_).string()),
      program_(std::move(program)) {
  make_folder(given_);
  for (const char* name : {"points", "failed", "work"}) fs::create_directories(path(name));
}

json SweepStore::identity() const {
  std::string points;
  for (const SweepPoint& point : plan_.points) {
    points += point.name + "\n";
    for (const auto& [knob, text] : point.knobs) points += fmt::format("{}={}\n", knob, text);
  }
  return {{"scenario", digest_of(plan_.scenario)},
          {"points", digest_of(points)},
          {"program", digest_of(read_text_file(program_).value_or(""))}};
}

void SweepStore::claim() {
  const json now = identity();
  const std::string place = path("sweep.json");
  if (const auto text = read_text_file(place)) {
    const json before = json::parse(*text, nullptr, false);
    std::string changed;
    for (const auto& [name, digest] : now.items())
      if (!before.is_object() || before.value(name, "") != digest)
        changed += (changed.empty() ? "" : ", ") + name;
    if (!changed.empty())
      throw std::runtime_error(
          fmt::format("{}: its results belong to another sweep: {} changed; allowed: the same as "
                      "before, another folder, or --restart, which removes them",
                      given_, changed));
    return;
  }
  replace_text_file(path("scenario.yaml"), plan_.scenario);
  replace_text_file(place, now.dump(1) + "\n");
}

void SweepStore::clear() {
  for (const char* name : {"points", "failed", "work", "sweep.json", "sweep.csv", "sweep.html"})
    fs::remove_all(path(name));
  for (const char* name : {"points", "failed", "work"}) fs::create_directories(path(name));
}

void SweepStore::lock() {
  // Stays open, and with it locked, until the process ends.
  const int file = open(path(".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) throw std::runtime_error(path(".lock") + ": cannot be written");
  if (flock(file, LOCK_EX | LOCK_NB) != 0)
    throw std::runtime_error(given_ + ": another sweep works in it; allowed: one at a time");
}

std::string SweepStore::folder(std::size_t point, PointState state) const {
  return path((state == PointState::Done ? "points/" : "failed/") + plan_.points[point].name);
}

PointState SweepStore::state(std::size_t point) const {
  for (const PointState state : {PointState::Done, PointState::Failed})
    if (fs::exists(folder(point, state))) return state;
  return PointState::Missing;
}

std::vector<std::size_t> SweepStore::points_in(PointState wanted) const {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < plan_.points.size(); ++i)
    if (state(i) == wanted) points.push_back(i);
  return points;
}

void SweepStore::forget_failed() {
  fs::remove_all(path("failed"));
  fs::create_directories(path("failed"));
}

std::string SweepStore::work_folder(std::size_t point) const {
  return path(fmt::format("work/{}.{}", plan_.points[point].name, getpid()));
}

std::vector<std::string> SweepStore::command(std::size_t point) const {
  std::vector<std::string> words{program_, "run", path("scenario.yaml"), "--out",
                                 work_folder(point)};
  for (const auto& [knob, text] : plan_.points[point].knobs) {
    words.emplace_back("--set");
    words.push_back(fmt::format("{}={}", knob, text));
  }
  return words;
}

std::string SweepStore::settle(std::size_t point, int status) const {
  const std::string work = work_folder(point);
  std::string problem;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    problem = reason_of(status, read_text_file(work + "/log").value_or(""));
  else if (!fs::exists(work + "/summary.json"))
    problem = "left no summary.json";
  json knobs = json::array();
  for (const auto& [knob, text] : plan_.points[point].knobs)
    knobs.push_back({{"knob", knob}, {"value", text}});
  const json about{{"point", plan_.points[point].name}, {"knobs", knobs}, {"reason", problem}};
  replace_text_file(work + "/point.json", about.dump(1) + "\n");
  std::error_code moved;
  const PointState state = problem.empty() ? PointState::Done : PointState::Failed;
  fs::rename(work, folder(point, state), moved);
  // Another process was sooner: its result is the same.
  if (moved) fs::remove_all(work);
  if (this->state(point) == PointState::Missing)
    throw std::runtime_error(folder(point, state) + ": cannot be made: " + moved.message());
  return problem;
}

std::string SweepStore::reason(std::size_t point) const {
  const json about =
      json::parse(read_text_file(folder(point, PointState::Failed) + "/point.json").value_or(""),
                  nullptr, false);
  return about.is_object() ? about.value("reason", "") : "";
}

json SweepStore::summary(std::size_t point) const {
  const std::string place = folder(point, PointState::Done) + "/summary.json";
  json summary = json::parse(read_text_file(place).value_or(""), nullptr, false);
  if (!summary.is_object()) throw std::runtime_error(place + ": is no result of hca run");
  return summary;
}
}  // namespace hca::testbench
