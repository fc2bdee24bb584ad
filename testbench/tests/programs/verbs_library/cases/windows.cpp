// SPDX-License-Identifier: Apache-2.0
// ibv_post_send(3), ibv_bind_mw(3): which window a bind is of, and what its addresses count from.
#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
ibv_mw_bind_info window_of(const End& end, std::uint32_t offset, std::uint32_t bytes,
                           unsigned access) {
  return {end.mr, reinterpret_cast<std::uintptr_t>(end.buffer.data() + offset), bytes, access};
}
ibv_wc_status bind(Bench& bench, ibv_qp* qp, ibv_mw* mw, std::uint32_t rkey,
                   const ibv_mw_bind_info& info) {
  ibv_send_wr wr = work(IBV_WR_BIND_MW, nullptr, 6);
  wr.bind_mw.mw = mw, wr.bind_mw.rkey = rkey, wr.bind_mw.bind_info = info;
  bench.checks->equal("a bind is posted", post(qp, wr), 0);
  return bench.b.next_completion().status;
}
// Of 8 bytes by the peer of the queue pair that has the window.
ibv_wc_status write(Bench& bench, ibv_qp* from, std::uint32_t rkey, std::uint64_t address) {
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  wr.wr.rdma.remote_addr = address, wr.wr.rdma.rkey = rkey;
  post(from, wr);
  const ibv_wc_status status = bench.a.next_completion().status;
  if (status != IBV_WC_SUCCESS) bench.b.next_event();
  return status;
}
std::uint64_t address_in(const End& end, std::uint32_t offset) {
  return reinterpret_cast<std::uintptr_t>(end.buffer.data() + offset);
}

// The index is that of the window named; of the key only the last byte is the program's.
void check_named(Bench& bench) {
  Checks& checks = *bench.checks;
  const Pair pair(bench, IBV_QPT_RC);
  ibv_mw* const one = ibv_alloc_mw(bench.b.pd, IBV_MW_TYPE_2);
  ibv_mw* const other = ibv_alloc_mw(bench.b.pd, IBV_MW_TYPE_2);
  const std::uint32_t index = one->rkey >> 8, others = other->rkey;
  const auto info = window_of(bench.b, 0, 64, IBV_ACCESS_REMOTE_WRITE);
  checks.equal("a bind with the other's key", bind(bench, pair.b, one, others ^ 0x80, info),
               IBV_WC_SUCCESS);
  checks.equal("gives the window's index", one->rkey >> 8, index);
  checks.equal("and the key byte", one->rkey & 0xff, (others ^ 0x80) & 0xff);
  checks.equal("the other keeps its key", other->rkey, others);
  checks.equal("a WRITE into it", write(bench, pair.a, one->rkey, address_in(bench.b, 0)),
               IBV_WC_SUCCESS);
  checks.equal("a bind of the other", bind(bench, pair.b, other, 0x400, info), IBV_WC_SUCCESS);
  checks.equal("a WRITE into that", write(bench, pair.a, other->rkey, address_in(bench.b, 0)),
               IBV_WC_SUCCESS);
  checks.equal("of the other's index nothing is taken",
               write(bench, pair.a, others ^ 0x80, address_in(bench.b, 0)), IBV_WC_REM_ACCESS_ERR);
  checks.equal("ibv_dealloc_mw", ibv_dealloc_mw(one) | ibv_dealloc_mw(other), 0);
}

// What is none of this device is refused by the HCA, and names nothing of it.
struct ForeignRow {
  const char* what;
  bool window, region;  // of the other device
};
constexpr std::array kForeign{ForeignRow{"a window of another device", true, false},
                              ForeignRow{"a region of another device", false, true},
                              ForeignRow{"both", true, true}};
void check_foreign(Bench& bench) {
  for (const ForeignRow& row : kForeign) {
    const Pair pair(bench, IBV_QPT_RC);
    End& of_window = row.window ? bench.a : bench.b;
    ibv_mw* const mw = ibv_alloc_mw(of_window.pd, IBV_MW_TYPE_2);
    const std::uint32_t before = mw->rkey;
    auto info = window_of(bench.b, 0, 64, IBV_ACCESS_REMOTE_WRITE);
    if (row.region) info = window_of(bench.a, 0, 64, IBV_ACCESS_REMOTE_WRITE);
    bench.checks->equal(row.what, bind(bench, pair.b, mw, before + 1, info), IBV_WC_MW_BIND_ERR);
    if (row.window) bench.checks->equal("its key", mw->rkey, before);
    bench.checks->equal("ibv_dealloc_mw", ibv_dealloc_mw(mw), 0);
  }
}

// IBV_ACCESS_ZERO_BASED of a window: `address` from its begin on.
struct ZeroRow {
  const char* what;
  std::uint32_t offset;  // of the window in the buffer, 64 bytes of it
  std::uint64_t address;
  ibv_wc_status wanted;
};
constexpr std::array kZeroBased{
    ZeroRow{"the first bytes of a zero-based window", 1024, 0, IBV_WC_SUCCESS},
    ZeroRow{"its last bytes", 1024, 56, IBV_WC_SUCCESS},
    ZeroRow{"one byte behind it", 1024, 57, IBV_WC_REM_ACCESS_ERR},
    ZeroRow{"one byte before it", 1024, ~std::uint64_t{0}, IBV_WC_REM_ACCESS_ERR},
    ZeroRow{"a window at the region's begin", 0, 0, IBV_WC_SUCCESS},
    ZeroRow{"a window at the region's end", kBytes - 64, 56, IBV_WC_SUCCESS},
};
void check_zero_based(Bench& bench) {
  Checks& checks = *bench.checks;
  for (const ZeroRow& row : kZeroBased) {
    const Pair pair(bench, IBV_QPT_RC);
    ibv_mw* const mw = ibv_alloc_mw(bench.b.pd, IBV_MW_TYPE_2);
    const auto info =
        window_of(bench.b, row.offset, 64, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED);
    checks.equal("it is bound", bind(bench, pair.b, mw, mw->rkey + 1, info), IBV_WC_SUCCESS);
    bench.a.buffer[0] = 0x5c, bench.b.buffer[(row.offset + row.address) % kBytes] = 0;
    checks.equal(row.what, write(bench, pair.a, mw->rkey, row.address), row.wanted);
    if (row.wanted == IBV_WC_SUCCESS)
      checks.equal("the byte is there", bench.b.buffer[row.offset + row.address], 0x5c);
    checks.equal("ibv_dealloc_mw", ibv_dealloc_mw(mw), 0);
  }
}
// Windows of type 1 are not.
void check_zero_based_type_1(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  ibv_mw* const mw = ibv_alloc_mw(bench.b.pd, IBV_MW_TYPE_1);
  ibv_mw_bind wanted{};
  wanted.bind_info = window_of(bench.b, 0, 64, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED);
  const std::uint32_t before = mw->rkey;
  bench.checks->equal("a zero-based window of type 1", ibv_bind_mw(pair.b, mw, &wanted), EINVAL);
  bench.checks->equal("keeps its key", mw->rkey, before);
  bench.checks->equal("ibv_dealloc_mw", ibv_dealloc_mw(mw), 0);
}
// A region's addresses, as the HCA of the program and those of others name them.
void check_zero_based_region(Bench& bench) {
  Checks& checks = *bench.checks;
  End& b = bench.b;
  const auto place = [&](std::uint32_t offset) { return b.buffer.data() + offset; };
  ibv_mr* const mr = ibv_reg_mr(b.pd, place(2048), 64, kAllAccess | IBV_ACCESS_ZERO_BASED);
  checks.holds("a zero-based region", mr);
  checks.holds("has the address where it lies", mr->addr == place(2048));
  const Pair pair(bench, IBV_QPT_RC);
  bench.a.buffer[0] = 0x6d;
  checks.equal("a WRITE to its first bytes", write(bench, pair.a, mr->rkey, 0), IBV_WC_SUCCESS);
  checks.equal("is there", b.buffer[2048], 0x6d);
  ibv_sge own{56, 8, mr->lkey};
  checks.equal("a receive into its last bytes", post_receive(pair.b, own), 0);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_SEND, &data);
  post(pair.a, wr);
  checks.equal("a SEND", bench.a.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("is received", b.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("there", b.buffer[2048 + 56], 0x6d);
  checks.equal("by its address", write(bench, pair.a, mr->rkey, address_in(b, 2048)),
               IBV_WC_REM_ACCESS_ERR);
  checks.equal("ibv_dereg_mr", ibv_dereg_mr(mr), 0);
}
}  // namespace

void check_windows(Bench& bench) {
  check_named(bench);
  check_foreign(bench);
  check_zero_based(bench);
  check_zero_based_type_1(bench);
  check_zero_based_region(bench);
}
}  // namespace cases
