// SPDX-License-Identifier: Apache-2.0
#include "testbench/mutants/reached.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "model/proto/transport/responder_rules.h"
#include "model/proto/wire/framing.h"
#include "testbench/mutants/trial.h"

namespace hca::testbench {
using namespace proto;
using namespace mutants;

namespace {
enum ScopeKey : std::size_t { kFraming, kService, kOperation, kOpcode };
static_assert(kScopeKeys[kFraming] == "framing" && kScopeKeys[kOpcode] == "opcode");

// ---- What is reached
// All mistakes in the order of their list, which a child has from its parent.
std::vector<Mutant::Reached> reached_by_all() {
  std::vector<Mutant::Reached> all;
  for (const Mutant* m = Mutant::first(); m; m = m->next()) all.push_back(m->reached());
  return all;
}

[[noreturn]] void run_share(std::span<const std::string> vectors, unsigned share, unsigned shares,
                            int to) {
  const int nothing = open("/dev/null", O_WRONLY);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  Mutant::watch();
  for (std::size_t i = share; i < vectors.size(); i += shares) {
    const Vector vector = load_vector(vectors[i]);
    for (const ReplayRunner& runner : trial_runners()) run_vector(vector, runner);
  }
  const auto all = reached_by_all();
  const auto bytes = ssize_t(all.size() * sizeof(all[0]));
  _exit(write(to, all.data(), std::size_t(bytes)) == bytes ? 0 : 1);
}

void add_share(int from, std::vector<Mutant::Reached>& all) {
  std::vector<Mutant::Reached> share(all.size());
  const std::size_t bytes = share.size() * sizeof(share[0]);
  if (pread(from, share.data(), bytes, 0) != ssize_t(bytes))
    throw std::runtime_error("what the vectors reach cannot be read");
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t key = 0; key < all[i].size(); ++key) all[i][key] |= share[i][key];
}

// ---- What could be
const OpcodeRow* row_of_opcode(u32 code) { return code < 256 ? opcode_row(u8(code)) : nullptr; }

// What a cause can be found in.
bool concerns(const RequestRule& rule, const OpcodeRow& row) {
  switch (rule.cause) {
    case RequestCause::TooManyReads:
      return row.traits().is_saved();
    case RequestCause::Misaligned:
      return row.traits().is_aligned();
    case RequestCause::NoReceiveWqe:
    case RequestCause::SharedQueueFailed:
      return request::takes_receive_wqe(row);
    case RequestCause::BadRkey:
      return row.has(Ext::Reth) || row.traits().is_atomic();
    case RequestCause::PsnAhead:
    case RequestCause::BadSequence:  // without answers a First or Only begins a message in any case
      return is_reliable(row.service) || !begins_message(row.position);
    case RequestCause::Unsupported:
      return row.traits().needed_access != 0 ||
             (row.traits().message == InMessage::None && !row.traits().is_saved());
    case RequestCause::Duplicate:
      return (rule.action == RequestAction::Repeat) == row.traits().is_saved();
    default:
      return true;
  }
}
// A packet with this opcode passes the stages before this rule's, if nothing else is wrong.
bool fits(const RequestRule& rule, const OpcodeRow& row) {
  if (!includes(rule.services, row.service)) return false;
  if (rule.stage == RuleStage::Header) return row.is_request || is_reliable(row.service);
  const bool executed = row.traits().message != InMessage::None || row.traits().is_saved();
  return row.is_request && (executed || rule.stage <= RuleStage::Support) && concerns(rule, row);
}
bool fits(const RequestRule& rule, std::size_t key, u32 value) {
  if (key == kFraming) {  // VLs, and LIDs of groups
    const bool by_lrh = rule.cause == RequestCause::WrongVl ||
                        (rule.cause == RequestCause::WrongPath && rule.services == kUd);
    return !by_lrh || is_native(Framing(value));
  }
  for (u32 code = 0; code < 256; ++code) {
    const OpcodeRow* const row = row_of_opcode(code);
    const u32 its = key == kService ? code >> 5 : key == kOperation ? code & 31 : code;
    if (row && its == value && fits(rule, *row)) return true;
  }
  return false;
}
}  // namespace

ReachedPlaces find_reached(std::span<const std::string> vectors, unsigned jobs) {
  std::vector<std::pair<pid_t, int>> shares;
  for (unsigned share = 0; share < jobs; ++share) {
    const int to = memfd_create("reached", MFD_CLOEXEC);
    const pid_t pid = to < 0 ? -1 : fork();
    if (pid < 0) throw std::runtime_error("no more processes");
    if (!pid) run_share(vectors, share, jobs, to);
    shares.push_back({pid, to});
  }
  std::vector<Mutant::Reached> all = reached_by_all();
  bool whole = true;
  for (const auto& [pid, from] : shares) {
    int status = 0;
    whole &= waitpid(pid, &status, 0) == pid && status == 0;
    if (whole) add_share(from, all);
    close(from);
  }
  if (!whole) throw std::runtime_error("the vectors do not run on the model without a mistake");
  ReachedPlaces places;
  std::size_t i = 0;
  for (const Mutant* m = Mutant::first(); m; m = m->next(), ++i)
    for (std::size_t key = 0; key < all[i].size(); ++key) places[m->name()][key] |= all[i][key];
  return places;
}

std::optional<bool> could_reach(const std::string& mistake, std::size_t key, u32 value) {
  const auto colon = mistake.find(':');
  const std::string kind = mistake.substr(0, colon);
  if (colon == mistake.npos || (kind != "rule" && kind != "first" && kind != "action")) return {};
  const std::string statement = mistake.substr(colon + 1, mistake.find('=') - colon - 1);
  std::optional<bool> could;
  for (const RequestRule& rule : kRequestRules)
    if (rule.statement == statement) could = could.value_or(false) || fits(rule, key, value);
  return could;
}

std::string value_name(std::size_t key, u32 value) {
  if (key == kFraming) return std::string(framing_row(Framing(value)).name);
  if (key == kService) return std::string(name_of(Service(value)));
  for (u32 code = 0; code < 256; ++code)
    if (const OpcodeRow* const row = row_of_opcode(code);
        row && (key == kOpcode ? code : code & 31) == value)
      return key == kOpcode ? fmt::format("{} {}", name_of(row->service), row->name)
                            : std::string(row->name);
  return "";
}
}  // namespace hca::testbench
