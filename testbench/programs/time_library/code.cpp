// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/time_library/code.h"

#include <Zydis/Zydis.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "testbench/programs/time_library/system_calls.h"

namespace hca::time_library {
namespace {
// The head of .eh_frame_hdr (LSB Core, 10.6.2), with the encodings that linkers write: a table of
// functions in ascending order.
struct FrameTable {
  u8 version, frame_encoding, count_encoding, table_encoding;
  std::int32_t frame;
  u32 count;
  struct Row {
    std::int32_t begin, description;  // from the head on
  };
  std::span<const Row> rows() const {
    constexpr u8 kUdata4 = 0x03, kSdata4FromHead = 0x3b;
    if (version != 1 || count_encoding != kUdata4 || table_encoding != kSdata4FromHead) return {};
    return {reinterpret_cast<const Row*>(this + 1), count};
  }
};

struct Loaded {
  u8* base = nullptr;
  const FrameTable* frames = nullptr;
};

// The beginning of the function that contains this byte; `from`: if no table has it.
u8* function_of(const Loaded& object, u8* byte, u8* from) {
  if (!object.frames) return from;
  const auto* const head = reinterpret_cast<const u8*>(object.frames);
  const auto rows = object.frames->rows();
  const auto behind = std::upper_bound(
      rows.begin(), rows.end(), byte - head,
      [](std::ptrdiff_t at, const FrameTable::Row& row) { return at < row.begin; });
  if (behind == rows.begin()) return from;
  u8* const begin = const_cast<u8*>(head) + std::prev(behind)->begin;
  return std::max(begin, from);
}

constexpr std::array<u8, 2> kRdtsc{0x0f, 0x31}, kSyscall{0x0f, 0x05};
constexpr std::array<u8, 3> kRdtscp{0x0f, 0x01, 0xf9};

bool looks_so(Site site, const u8* at, const u8* end) {
  const auto is = [&](const auto& bytes) {
    return std::size_t(end - at) >= bytes.size() && !std::memcmp(at, bytes.data(), bytes.size());
  };
  return site == Site::TimeStamp ? is(kRdtsc) || is(kRdtscp) : is(kSyscall);
}

// Code that has no table, of Go say, puts the number right before the call.
bool has_number_before(const u8* begin, const u8* at) {
  constexpr u8 kMovToEax = 0xb8;
  constexpr std::ptrdiff_t kBytes = 5;
  std::int32_t number;
  if (at - begin < kBytes || at[-kBytes] != kMovToEax) return false;
  std::memcpy(&number, at - sizeof number, sizeof number);
  return is_timed(number);
}

class Decoder {
 public:
  Decoder() { ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }
  // The length of the instruction at `at` if it is reached from `from` on and is such a one.
  unsigned length_of(Site site, const u8* from, const u8* at, const u8* end) const {
    ZydisDecodedInstruction instruction;
    while (from < at) {
      const bool good = decode(from, end, instruction);
      from += good ? instruction.length : 1;
    }
    if (from != at || !decode(at, end, instruction)) return 0;
    const bool is_one = site == Site::SystemCall
                            ? instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL
                            : instruction.mnemonic == ZYDIS_MNEMONIC_RDTSC ||
                                  instruction.mnemonic == ZYDIS_MNEMONIC_RDTSCP;
    return is_one ? instruction.length : 0;
  }

 private:
  bool decode(const u8* at, const u8* end, ZydisDecodedInstruction& instruction) const {
    return ZYAN_SUCCESS(
        ZydisDecoderDecodeInstruction(&decoder_, nullptr, at, ZyanUSize(end - at), &instruction));
  }
  ZydisDecoder decoder_;
};

void search(const Loaded& object, const ElfW(Phdr) & segment, Site site, const FoundSite& found) {
  const Decoder decoder;
  u8* const begin = object.base + segment.p_vaddr;
  u8* const end = begin + segment.p_memsz;
  for (u8* at = begin; (at = static_cast<u8*>(std::memchr(at, kRdtsc[0], std::size_t(end - at))));
       ++at) {
    if (!looks_so(site, at, end)) continue;
    if (site == Site::SystemCall && has_number_before(begin, at)) {
      found(at, unsigned(kSyscall.size()));
      continue;
    }
    // Without a table all of the code would be read for each.
    if (site == Site::SystemCall && !object.frames) continue;
    if (const unsigned bytes = decoder.length_of(site, function_of(object, at, begin), at, end))
      found(at, bytes);
  }
}

bool holds(const dl_phdr_info& info, const void* address) {
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    const u64 offset = reinterpret_cast<u64>(address) - info.dlpi_addr - segment.p_vaddr;
    if (segment.p_type == PT_LOAD && offset < segment.p_memsz) return true;
  }
  return false;
}

bool is_of_c_library(const char* path) {
  constexpr std::array kNames{"/libc.so", "/libc-", "/ld-linux", "/libpthread", "san.so"};
  return std::ranges::any_of(kNames, [&](const char* name) { return std::strstr(path, name); });
}

struct Search {
  Site site;
  const FoundSite& found;
};
int take_object(dl_phdr_info* info, std::size_t, void* with) {
  const auto& [site, found] = *static_cast<const Search*>(with);
  const auto* const kernels = reinterpret_cast<const void*>(kernel_code());
  if ((kernels && holds(*info, kernels)) || holds(*info, reinterpret_cast<void*>(&take_object)))
    return 0;
  if (site == Site::SystemCall && is_of_c_library(info->dlpi_name)) return 0;
  Loaded object{.base = reinterpret_cast<u8*>(info->dlpi_addr)};
  const std::span segments(info->dlpi_phdr, info->dlpi_phnum);
  for (const auto& segment : segments)
    if (segment.p_type == PT_GNU_EH_FRAME)
      object.frames = reinterpret_cast<const FrameTable*>(object.base + segment.p_vaddr);
  constexpr unsigned kReadable = PF_X | PF_R;
  for (const auto& segment : segments)
    if (segment.p_type == PT_LOAD && (segment.p_flags & kReadable) == kReadable)
      search(object, segment, site, found);
  return 0;
}

// A runtime that finds the kernel's clocks through its initial stack, not through the C library,
// makes system calls instead if there seem to be none.
u64 g_kernel_code = 0;
__attribute__((constructor)) void hide_kernel_code(int, char** arguments, char**) {
  constexpr std::size_t kMost = 1 << 16;  // words: of the environment
  g_kernel_code = getauxval(AT_SYSINFO_EHDR);
  auto* const words = reinterpret_cast<u64*>(arguments);
  for (std::size_t i = 0; g_kernel_code && i < kMost; ++i)
    if (words[i] == AT_SYSINFO_EHDR && words[i + 1] == g_kernel_code) {
      words[i] = AT_IGNORE;
      return;
    }
}
}  // namespace

u64 kernel_code() { return g_kernel_code; }

void each_site(Site site, const FoundSite& found) {
  Search search{site, found};
  dl_iterate_phdr(take_object, &search);
}

u64 pieces_of_code() {
  u64 pieces = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<u64*>(to) = info->dlpi_adds;
        return 1;
      },
      &pieces);
  return pieces;
}

bool overwrite_code(u8* code, u8 with) {
  const u64 page = u64(sysconf(_SC_PAGESIZE));
  auto* const pages = reinterpret_cast<void*>(reinterpret_cast<u64>(code) / page * page);
  if (mprotect(pages, page, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  __atomic_store_n(code, with, __ATOMIC_SEQ_CST);
  return !mprotect(pages, page, PROT_READ | PROT_EXEC);
}
}  // namespace hca::time_library
