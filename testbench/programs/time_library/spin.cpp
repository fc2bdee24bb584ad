// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/time_library/spin.h"
#include "testbench/programs/server/kernel_call.h"

#include <Zydis/Zydis.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>

#include "testbench/programs/server/turns.h"
#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/looks.h"
#include "testbench/programs/time_library/turns.h"

namespace hca::time_library {
namespace {
using attach::Finding;

// The registers that the kernel saves beside the general ones: <asm/sigcontext.h>.
constexpr std::size_t kLegacyBytes = 512, kMostExtended = 4096, kSizeAt = 468, kMagicAt = 464;
constexpr u32 kMagic = 0x46505853;  // FP_XSTATE_MAGIC1
constexpr greg_t kTrapFlag = 0x100, kResumeFlag = 0x10000;

std::size_t extended_bytes(const u8* saved) {
  u32 magic, bytes;
  std::memcpy(&magic, saved + kMagicAt, sizeof magic);
  std::memcpy(&bytes, saved + kSizeAt, sizeof bytes);
  return magic == kMagic && bytes <= kMostExtended ? bytes - sizeof magic : kLegacyBytes;
}

struct State {
  std::array<greg_t, REG_RIP + 1> general{};
  greg_t flags = 0;
  std::array<u8, kMostExtended> extended{};
  std::size_t bytes = 0;

  void take(const mcontext_t& context) {
    std::copy_n(context.gregs, general.size(), general.begin());
    flags = flags_of(context);
    const auto* const saved = reinterpret_cast<const u8*>(context.fpregs);
    bytes = extended_bytes(saved);
    // The words with the size belong to the kernel.
    std::memcpy(extended.data(), saved, bytes);
  }
  bool holds(const mcontext_t& context) const {
    return std::equal(general.begin(), general.end(), context.gregs) &&
           flags == flags_of(context) && !std::memcmp(extended.data(), context.fpregs, bytes);
  }
  static greg_t flags_of(const mcontext_t& context) {
    return context.gregs[REG_EFL] & ~(kTrapFlag | kResumeFlag);
  }
};

// False: there is nothing to read. An instruction may name an address that it does not read.
bool read_word(u64 address, u64& value) {
  const iovec to{&value, sizeof value}, from{reinterpret_cast<void*>(address), sizeof value};
  const long bytes = attach::kernel_call(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0);
  return bytes == long(sizeof value);
}

// Words of memory that were written, or read, and what they held before.
class Words {
 public:
  void clear() { used_ = 0; }
  // False: there are too many.
  bool note(u64 address, u64 bytes) {
    for (u64 word = address & ~u64{7}; word < address + bytes; word += 8) {
      const auto end = words_.begin() + std::ptrdiff_t(used_);
      if (std::any_of(words_.begin(), end, [&](const Word& w) { return w.address == word; }))
        continue;
      u64 value;
      if (used_ == words_.size() || !read_word(word, value)) return false;
      words_[used_++] = {word, value};
    }
    return true;
  }
  bool is_as_before() const {
    return std::ranges::all_of(all(), [](const Word& w) {
      return *reinterpret_cast<const volatile u64*>(w.address) == w.value;
    });
  }
  struct Word {
    u64 address, value;
  };
  std::span<const Word> all() const { return {words_.data(), used_}; }

 private:
  std::array<Word, 128> words_;
  std::size_t used_ = 0;
};

// The one that is under way: there is one turn. Nothing here is allocated, or of a thread's own
// storage: it runs in a signal.
struct Examination {
  std::atomic<int> thread{0};  // its tid; 0: none is examined
  attach::SharedThread* slot = nullptr;
  u32 asked = 0;
  u32 steps = 0, longest = 0;
  u32 renewed = 0;  // the step whose state is looked for; each time twice as late (R. P. Brent)
  State state;
  Words written, read;
  Looks looks;
  bool traps_were_blocked = false;
  struct sigaction before {};
};
Examination g_examination;
ZydisDecoder g_decoder;

// An instruction whose effect is not known here: it enters the kernel, or writes much.
bool may_step(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_SCATTER:
      return false;
    default:
      return instruction.mnemonic != ZYDIS_MNEMONIC_RDTSC &&
             instruction.mnemonic != ZYDIS_MNEMONIC_RDTSCP &&
             instruction.mnemonic != ZYDIS_MNEMONIC_PUSHFQ;
  }
}

// The address that FS names: of what the thread has for itself.
u64 own_storage() {
  u64 base;
  asm("mov %%fs:0, %0" : "=r"(base));
  return base;
}

ZydisRegisterContext registers_of(const mcontext_t& context) {
  struct Name {
    ZydisRegister name;
    int index;
  };
  static constexpr std::array kNames{
      Name{ZYDIS_REGISTER_RAX, REG_RAX}, Name{ZYDIS_REGISTER_RBX, REG_RBX},
      Name{ZYDIS_REGISTER_RCX, REG_RCX}, Name{ZYDIS_REGISTER_RDX, REG_RDX},
      Name{ZYDIS_REGISTER_RSI, REG_RSI}, Name{ZYDIS_REGISTER_RDI, REG_RDI},
      Name{ZYDIS_REGISTER_RBP, REG_RBP}, Name{ZYDIS_REGISTER_RSP, REG_RSP},
      Name{ZYDIS_REGISTER_R8, REG_R8},   Name{ZYDIS_REGISTER_R9, REG_R9},
      Name{ZYDIS_REGISTER_R10, REG_R10}, Name{ZYDIS_REGISTER_R11, REG_R11},
      Name{ZYDIS_REGISTER_R12, REG_R12}, Name{ZYDIS_REGISTER_R13, REG_R13},
      Name{ZYDIS_REGISTER_R14, REG_R14}, Name{ZYDIS_REGISTER_R15, REG_R15},
      Name{ZYDIS_REGISTER_RIP, REG_RIP}};
  ZydisRegisterContext registers{};
  for (const Name& n : kNames) registers.values[n.name] = u64(context.gregs[n.index]);
  return registers;
}

// Before an instruction is executed: notes what it will write, and looks at. False: that is not
// known.
bool note_effects(const mcontext_t& context, Words& written, Words& read, Looks& looks) {
  const u64 address = u64(context.gregs[REG_RIP]);
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&g_decoder, reinterpret_cast<const void*>(address),
                                           ZYDIS_MAX_INSTRUCTION_LENGTH, &instruction,
                                           operands.data())) ||
      !may_step(instruction))
    return false;
  const ZydisRegisterContext registers = registers_of(context);
  const bool is_hint = instruction.meta.category == ZYDIS_CATEGORY_NOP ||
                       instruction.meta.category == ZYDIS_CATEGORY_WIDENOP ||
                       instruction.meta.category == ZYDIS_CATEGORY_PREFETCH;
  bool known = true;
  const auto address_of = [&](const ZydisDecodedOperand& operand) {
    u64 at = 0;
    known &=
        operand.mem.segment != ZYDIS_REGISTER_FS && operand.mem.segment != ZYDIS_REGISTER_GS &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&instruction, &operand, address, &registers, &at));
    // Pushed data lies below the current stack pointer.
    const bool pushes = operand.mem.base == ZYDIS_REGISTER_RSP &&
                        operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (pushes) return u64(context.gregs[REG_RSP]) - operand.size / 8;
    return operand.mem.segment == ZYDIS_REGISTER_FS ? at + own_storage() : at;
  };
  for (u8 i = 0; i < instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM ||
        is_hint)
      continue;
    const u64 at = address_of(operand), bytes = operand.size / 8;
    if (!known) return false;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) && !read.note(at, bytes)) return false;
    if (!(operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    if (!written.note(at, bytes)) return false;
    looks.note_written(at, bytes);
  }
  looks.note(instruction, operands.data(), address_of);
  return known;
}

// It waits for its own memory, so all possible writers are known; these are the words that it reads
// and does not write.
bool can_be_watched(Examination& e) {
  e.slot->looks = 0;
  for (const Words::Word& word : e.read.all()) {
    if (std::ranges::any_of(e.written.all(),
                            [&](const auto& w) { return w.address == word.address; }))
      continue;
    if (e.slot->looks == attach::kMostLooks || is_shared(word.address)) return false;
    e.slot->looked_at[e.slot->looks++] = word.address;
  }
  return e.slot->looks;
}

void stop_stepping(ucontext_t& context) {
  Examination& e = g_examination;
  context.uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  if (e.traps_were_blocked) sigaddset(&context.uc_sigmask, SIGTRAP);
  HCA_NEXT(sigaction)(SIGTRAP, &e.before, nullptr);
}
void end(ucontext_t& context, Finding finding) {
  Examination& e = g_examination;
  stop_stepping(context);
  e.slot->at.store(u64(context.uc_mcontext.gregs[REG_RIP]), std::memory_order_relaxed);
  // It gives its turn up where it is, and looks again when it has the next one.
  if (finding == Finding::Waits && can_be_watched(e)) {
    static thread_local Words watched;
    watched = e.read;
    e.slot->finding.store(e.asked << attach::kFindingBits | u32(Finding::Computes));
    attach::SharedThread& slot = *e.slot;
    e.thread.store(0, std::memory_order_release);
    return wait_in_memory(slot, [] { return !watched.is_as_before(); });
  }
  e.slot->finding.store(e.asked << attach::kFindingBits | u32(finding), std::memory_order_release);
  attach::wake(*e.slot);
  e.thread.store(0, std::memory_order_release);
}

// By itself, past the C library: it lets others go on, for which it waits then.
bool yields(const mcontext_t& context) {
  constexpr std::array<u8, 2> kSyscall{0x0f, 0x05};
  return !std::memcmp(reinterpret_cast<const void*>(context.gregs[REG_RIP]), kSyscall.data(),
                      kSyscall.size()) &&
         context.gregs[REG_RAX] == SYS_sched_yield;
}

// After each instruction.
void step(ucontext_t& context) {
  Examination& e = g_examination;
  const mcontext_t& now = context.uc_mcontext;
  if (e.slot->activity.load(std::memory_order_acquire) != attach::Activity::Runs)
    return end(context, Finding::Computes);
  if (e.steps && e.state.holds(now) && e.written.is_as_before())
    return end(context, Finding::Waits);
  if (e.steps++ >= e.renewed) {
    e.state.take(now);
    e.written.clear();
    e.read.clear();
    e.renewed = 2 * e.steps;
  }
  if (e.steps > e.longest)
    return end(context, e.looks.waits(e.steps) ? Finding::Looks : Finding::Computes);
  if (!note_effects(now, e.written, e.read, e.looks))
    return end(context, yields(now) ? Finding::Looks : Finding::Computes);
  context.uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

void on_trap(int signal, siginfo_t* info, void* at) {
  const int error = errno;
  if (info->si_code == TRAP_TRACE && g_examination.thread.load() == gettid())
    step(*static_cast<ucontext_t*>(at));
  else if (g_examination.before.sa_flags & SA_SIGINFO)
    g_examination.before.sa_sigaction(signal, info, at);
  else if (g_examination.before.sa_handler != SIG_DFL && g_examination.before.sa_handler != SIG_IGN)
    g_examination.before.sa_handler(signal);
  errno = error;
}

void on_question(int, siginfo_t*, void* at) {
  const int error = errno;
  auto& context = *static_cast<ucontext_t*>(at);
  attach::SharedThread* const slot = slot_with_turn();
  Examination& e = g_examination;
  int none = 0;
  if (slot && e.thread.compare_exchange_strong(none, gettid())) {
    e.slot = slot;
    e.asked = slot->asked.load();
    e.longest = slot->steps.load();
    e.steps = e.renewed = 0;
    e.looks.clear();
    e.traps_were_blocked = sigismember(&context.uc_sigmask, SIGTRAP) == 1;
    sigdelset(&context.uc_sigmask, SIGTRAP);
    struct sigaction action {};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    HCA_NEXT(sigaction)(SIGTRAP, &action, &e.before);
    step(context);
  }
  errno = error;
}
}  // namespace

void set_up_examination() {
  ZydisDecoderInit(&g_decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  struct sigaction action {};
  action.sa_sigaction = on_question;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  HCA_NEXT(sigaction)(attach::kExamine, &action, nullptr);
}
void ignore_examination() {
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  HCA_NEXT(sigaction)(attach::kExamine, &ignored, nullptr);
}
}  // namespace hca::time_library
