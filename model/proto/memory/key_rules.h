// SPDX-License-Identifier: Apache-2.0
// Changes of the key table, and their conditions as tables (9.4.1.1.3, 10.6): the first broken rule
// refuses a change.
#pragma once
#include <array>
#include <span>
#include <utility>

#include "model/proto/interface/work_rows.h"
#include "model/proto/memory/memory_region.h"

namespace hca::proto {
template <class View>
struct KeyRule {
  std::string_view statement;
  bool (*broken)(const View&);
};

// True if no rule of a table is broken.
template <const auto& table, class View>
bool holds(const View& view) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return !(table[i].broken(view) || ...);
  }
  (std::make_index_sequence<table.size()>{});
}

// ---- Invalidate
// By the peer (SEND with Invalidate) or by the send queue (Local Invalidate). Invalidating a key
// that is already Free is not an error (INV-19).
struct InvalidateView {
  const Region* entry;
  u32 key;
  Accessor who;
};
namespace invalidate {
inline bool unknown(const InvalidateView& v) { return !v.entry->exists() || v.entry->key != v.key; }
inline bool is_region(const InvalidateView& v) {
  return v.entry->exists() && !v.entry->is_window();
}
inline bool is_reserved(const InvalidateView& v) { return v.key == kReservedLkey; }
inline bool plain_region(const InvalidateView& v) {
  return is_region(v) && !(v.entry->access & kFastRegister);
}
inline bool shared_region(const InvalidateView& v) {
  return is_region(v) && (v.entry->access & kShared);
}
inline bool region_of_other_pd(const InvalidateView& v) {
  return is_region(v) && v.entry->pd != v.who.pd;
}
inline bool region_in_use(const InvalidateView& v) { return is_region(v) && v.entry->links; }
inline bool type_1(const InvalidateView& v) { return v.entry->kind == KeyKind::Window1; }
inline bool is_valid(const InvalidateView& v, KeyKind kind) {
  return v.entry->kind == kind && v.entry->state == KeyState::Valid;
}
inline bool other_qp_2a(const InvalidateView& v) {
  return is_valid(v, KeyKind::Window2A) && v.entry->qpn != v.who.qpn;
}
inline bool other_owner_2b(const InvalidateView& v) {
  return is_valid(v, KeyKind::Window2B) && (v.entry->qpn != v.who.qpn || v.entry->pd != v.who.pd);
}
inline bool free_of_other_pd(const InvalidateView& v) {
  return v.entry->is_type_2() && v.entry->state == KeyState::Free && v.entry->pd != v.who.pd;
}
}  // namespace invalidate
inline constexpr std::array kInvalidateRules{
    KeyRule<InvalidateView>{"INV-10", invalidate::unknown},
    KeyRule<InvalidateView>{"INV-11", invalidate::is_reserved},
    KeyRule<InvalidateView>{"INV-12", invalidate::plain_region},
    KeyRule<InvalidateView>{"INV-13", invalidate::shared_region},
    KeyRule<InvalidateView>{"INV-14", invalidate::region_of_other_pd},
    KeyRule<InvalidateView>{"INV-15", invalidate::type_1},
    KeyRule<InvalidateView>{"INV-16", invalidate::other_qp_2a},
    KeyRule<InvalidateView>{"INV-17", invalidate::other_owner_2b},
    KeyRule<InvalidateView>{"INV-18", invalidate::free_of_other_pd},
    KeyRule<InvalidateView>{"MR-9", invalidate::region_in_use},
};
inline bool may_invalidate(const Region* entry, u32 key, const Accessor& who) {
  return holds<kInvalidateRules>(InvalidateView{entry ? entry : &kNoRegion, key, who});
}

// ---- Memory
// The parameters of RegisterMr and REG_MR.
struct MemoryRequest {
  u64 start, bytes, physical;
  Rights access;
  u8 log_page;
  std::span<const u64> pages;  // the entries of its page list
  Rights optional;             // rights of the device's options: optional_rights()
};
constexpr PageList page_list_of(u64 physical, u64 bytes, u8 log_page) {
  if (log_page < kMinLogPage || log_page > kMaxLogPage || !bytes) return {};
  const u64 last = (bytes - 1) >> log_page;
  return last < kMaxPages ? PageList{physical, u32(last + 1)} : PageList{};
}
namespace memory {
inline bool bad_access(const MemoryRequest& m) {
  return m.access & ~(kRegionAccess | m.optional) || ((m.access & kZeroBased) && m.start);
}
// MR-11.
inline bool remote_without_local(const MemoryRequest& m) {
  return (m.access & kRemoteChanges) && !(m.access & kLocalWrite);
}
// True if the last of these bytes lies beyond 2^64 - 1.
constexpr bool passes_end(u64 start, u64 bytes) { return bytes && start + (bytes - 1) < start; }
inline bool wraps(const MemoryRequest& m) {
  return passes_end(m.start, m.bytes) || (!m.log_page && passes_end(m.physical, m.bytes));
}
inline bool bad_pages(const MemoryRequest& m) {
  if (!m.log_page) return false;
  if (m.start % kAtomicBytes) return true;  // an ATOMIC must lie in one page
  const u64 page = u64{1} << (m.log_page & 63);
  if (m.pages.size() != page_list_of(m.physical, m.bytes, m.log_page).count || m.pages.empty())
    return true;
  return std::any_of(m.pages.begin(), m.pages.end(), [&](u64 at) { return at & (page - 1); });
}
}  // namespace memory
inline constexpr std::array kMemoryRules{
    KeyRule<MemoryRequest>{"MR-10", memory::bad_access},
    KeyRule<MemoryRequest>{"MR-11", memory::remote_without_local},
    KeyRule<MemoryRequest>{"MR-4", memory::wraps},
    KeyRule<MemoryRequest>{"MR-7", memory::bad_pages},
};
inline bool memory_is_good(const MemoryRequest& m) { return holds<kMemoryRules>(m); }

// ---- Bind
// By a work request, in the order of its send queue, or by the command BindMw (only type 1,
// by_command). Zero bytes: unbind.
struct BindRequest {
  u64 start, bytes;
  u32 region_key;
  Rights access;
  bool by_command;
  u32 pd;           // of the queue pair; for a command, the window's own
  Rights optional;  // rights of the device's options: optional_rights()
};
struct BindView {
  const Region *window, *region;  // kNoRegion: there is none
  BindRequest request;
  u32 key;  // the new key of the window
};
namespace bind {
inline bool is_reserved(const BindView& v) { return v.key == kReservedLkey; }
inline bool no_window(const BindView& v) { return !v.window->exists() || !v.window->is_window(); }
inline bool wrong_way(const BindView& v) {
  return v.window->kind != KeyKind::Window1 && v.request.by_command;
}
inline bool is_valid(const BindView& v) {
  return v.window->is_type_2() && v.window->state == KeyState::Valid;
}
inline bool empty(const BindView& v) { return v.window->is_type_2() && !v.request.bytes; }
// True unless the region can be bound to; an unbind needs no region.
inline bool unknown_region(const Region& r, const BindRequest& request) {
  return request.bytes && (!r.exists() || r.is_window() || r.key != request.region_key);
}
inline bool no_region(const BindView& v) {
  return unknown_region(*v.region, v.request) ||
         (v.request.bytes && v.region->state != KeyState::Valid);
}
inline bool no_right(const BindView& v) {
  return v.request.bytes && !(v.region->access & kBindWindow);
}
inline bool other_pd(const BindView& v) {
  const bool window = v.window->pd != v.request.pd;
  const bool region = v.region->pd != v.window->pd;
  return window || (v.request.bytes && region);
}
inline bool zero_based(const BindView& v) {
  return v.request.bytes && (v.region->access & kZeroBased);
}
inline bool outside(const BindView& v) {
  if (!v.request.bytes) return false;
  const u64 offset = v.request.start - v.region->start;
  return v.request.start < v.region->start || v.request.bytes > v.region->bytes ||
         offset > v.region->bytes - v.request.bytes;
}
// G22.6: only windows of type 2 may be zero-based.
inline bool bad_access(const BindView& v) {
  const bool may_be_zero_based = v.window->is_type_2();
  return v.request.access &
         ~(kWindowAccess | v.request.optional | (may_be_zero_based ? kZeroBased : 0));
}
inline bool needs_local_write(const BindView& v) {
  return v.request.bytes && (v.request.access & kRemoteChanges) &&
         !(v.region->access & kLocalWrite);
}
}  // namespace bind
inline constexpr std::array kBindRules{
    KeyRule<BindView>{"MW-22", bind::no_window},
    KeyRule<BindView>{"G22.4", bind::is_reserved},
    KeyRule<BindView>{"MW-8", bind::wrong_way},
    KeyRule<BindView>{"MW-14", bind::is_valid},
    KeyRule<BindView>{"MW-9", bind::empty},
    KeyRule<BindView>{"MW-1", bind::no_region},
    KeyRule<BindView>{"T14-MW_BIND_ERR/send", bind::no_right},
    KeyRule<BindView>{"G22.6", bind::other_pd},
    KeyRule<BindView>{"G22.6", bind::zero_based},
    KeyRule<BindView>{"G22.6", bind::outside},
    KeyRule<BindView>{"MR-10", bind::bad_access},
    KeyRule<BindView>{"MW-3", bind::needs_local_write},
};
inline bool may_bind(const BindView& v) { return holds<kBindRules>(v); }

// ---- Fast register
struct FastRegisterView {
  const Region* region;  // kNoRegion: there is none
  MemoryRequest memory;
  u32 pd;   // of the queue pair
  u32 key;  // the new key of the region
};
namespace fast_register {
// The change would take the physical addresses away from privileged queue pairs, or give others a
// key for them.
inline bool is_reserved(const FastRegisterView& v) { return v.key == kReservedLkey; }
inline bool no_region(const FastRegisterView& v) {
  return v.region->is_window() || !(v.region->access & kFastRegister);
}
inline bool not_free(const FastRegisterView& v) { return v.region->state != KeyState::Free; }
inline bool other_pd(const FastRegisterView& v) { return v.region->pd != v.pd; }
inline bool bad_memory(const FastRegisterView& v) { return !memory_is_good(v.memory); }
}  // namespace fast_register
inline constexpr std::array kFastRegisterRules{
    KeyRule<FastRegisterView>{"INV-12", fast_register::no_region},
    KeyRule<FastRegisterView>{"G22.4", fast_register::is_reserved},
    KeyRule<FastRegisterView>{"G22.1", fast_register::not_free},
    KeyRule<FastRegisterView>{"INV-14", fast_register::other_pd},
    KeyRule<FastRegisterView>{"MR-11", fast_register::bad_memory},
};
inline bool may_fast_register(const FastRegisterView& v) { return holds<kFastRegisterRules>(v); }
}  // namespace hca::proto
