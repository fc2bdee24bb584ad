// SPDX-License-Identifier: Apache-2.0
// ibv_alloc_mw(3), ibv_bind_mw(3), ibv_rereg_mr(3): what a key gives the right to.
#include <sys/mman.h>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
// Of a WRITE of 8 bytes to this offset of b's buffer, by this key. A new pair each: an error ends
// one.
ibv_wc_status status_of_write(Bench& bench, std::uint32_t rkey, std::uint32_t offset,
                              ibv_qp* through = nullptr) {
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b, offset);
  wr.wr.rdma.rkey = rkey;
  if (through) {
    post(through, wr);
    return bench.a.next_completion().status;
  }
  const Pair pair(bench, IBV_QPT_RC);
  post(pair.a, wr);
  const ibv_wc_status status = bench.a.next_completion().status;
  if (status != IBV_WC_SUCCESS) bench.b.next_event();
  return status;
}

ibv_mw_bind_info window_of(const End& end, std::uint32_t offset, std::uint32_t bytes, int access) {
  return {end.mr, reinterpret_cast<std::uintptr_t>(end.buffer.data() + offset), bytes,
          unsigned(access)};
}

// The call posts it; its completion says what is wrong with the bind, in the order of the queue.
void check_refused_type_1(Bench& bench, ibv_qp* qp, ibv_mw* mw) {
  Checks& checks = *bench.checks;
  ibv_mw_bind bind{};
  bind.wr_id = 7, bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_info = window_of(bench.b, kBytes - 8, 64, IBV_ACCESS_REMOTE_WRITE);
  checks.equal("a window beyond its region", ibv_bind_mw(qp, mw, &bind), 0);
  ibv_wc wc = bench.b.next_completion();
  checks.equal("completes", wc.status, IBV_WC_MW_BIND_ERR);
  checks.equal("with its wr_id", (long long)wc.wr_id, 7);
  checks.equal("the queue pair", state_of(qp), IBV_QPS_ERR);
  bind.wr_id = 8, bind.bind_info = window_of(bench.b, 0, 64, IBV_ACCESS_REMOTE_WRITE);
  checks.equal("a bind of a queue pair in error", ibv_bind_mw(qp, mw, &bind), 0);
  wc = bench.b.next_completion();
  checks.equal("is flushed", wc.status, IBV_WC_WR_FLUSH_ERR);
  checks.equal("a WRITE into it", status_of_write(bench, mw->rkey, 0), IBV_WC_REM_ACCESS_ERR);
}

void check_type_1(Bench& bench) {
  Checks& checks = *bench.checks;
  const Pair pair(bench, IBV_QPT_RC);
  ibv_mw* const mw = ibv_alloc_mw(bench.b.pd, IBV_MW_TYPE_1);
  checks.holds("a window of type 1", mw);
  ibv_mw_bind bind{};
  bind.wr_id = 5, bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_info = window_of(bench.b, 1024, 64, IBV_ACCESS_REMOTE_WRITE);
  const std::uint32_t before = mw->rkey;
  checks.equal("ibv_bind_mw", ibv_bind_mw(pair.b, mw, &bind), 0);
  checks.holds("gives another key", mw->rkey != before);
  const ibv_wc wc = bench.b.next_completion();
  checks.equal("completes", wc.status, IBV_WC_SUCCESS);
  checks.equal("as such", wc.opcode, IBV_WC_BIND_MW);
  checks.equal("with its wr_id", (long long)wc.wr_id, 5);
  checks.equal("a WRITE into it", status_of_write(bench, mw->rkey, 1024 + 56), IBV_WC_SUCCESS);
  checks.equal("beyond it", status_of_write(bench, mw->rkey, 1024 + 57), IBV_WC_REM_ACCESS_ERR);
  checks.equal("by its old key", status_of_write(bench, before, 1024), IBV_WC_REM_ACCESS_ERR);
  checks.equal("a region with a window", ibv_dereg_mr(bench.b.mr), EBUSY);
  bind.bind_info.length = 0;
  checks.equal("no bytes", ibv_bind_mw(pair.b, mw, &bind), 0);
  checks.equal("unbind it", bench.b.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("a WRITE then", status_of_write(bench, mw->rkey, 1024), IBV_WC_REM_ACCESS_ERR);
  bind.bind_info.mr = bench.a.mr, bind.bind_info.length = 64;
  checks.equal("a region of another domain", ibv_bind_mw(pair.b, mw, &bind), EPERM);
  check_refused_type_1(bench, pair.b, mw);
  checks.equal("ibv_dealloc_mw", ibv_dealloc_mw(mw), 0);
  ibv_mw* const other = ibv_alloc_mw(bench.b.pd, ibv_mw_type(3));
  checks.holds("a window of type 3", !other && errno == EINVAL);
}

struct Bind2Row {
  const char* what;
  void (*change)(Bench&, ibv_mw_bind_info&);
};
constexpr std::array kRefusedBinds{
    Bind2Row{"a window of type 2 beyond its region",
             [](Bench&, auto& info) { info.addr += kBytes - 1000; }},
    Bind2Row{"a window of type 2 without bytes", [](Bench&, auto& info) { info.length = 0; }},
    Bind2Row{"a window of rights that there are not",
             [](Bench&, auto& info) { info.mw_access_flags = 1 << 19; }},
    Bind2Row{"a window of another domain's region",
             [](Bench& b, auto& info) {
               static ibv_pd* const pd = ibv_alloc_pd(b.b.context);
               static ibv_mr* const mr =
                   ibv_reg_mr(pd, b.b.buffer.data(), b.b.buffer.size(), kAllAccess);
               info.mr = mr;
             }},
};

ibv_wc bind_2(Bench& bench, ibv_qp* qp, ibv_mw* mw, const ibv_mw_bind_info& info) {
  ibv_send_wr wr = work(IBV_WR_BIND_MW, nullptr, 6);
  wr.bind_mw.mw = mw, wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey), wr.bind_mw.bind_info = info;
  bench.checks->equal("a bind of type 2 is posted", post(qp, wr), 0);
  return bench.b.next_completion();
}

void check_type_2(Bench& bench) {
  Checks& checks = *bench.checks;
  const Pair pair(bench, IBV_QPT_RC);
  ibv_mw* const mw = ibv_alloc_mw(bench.b.pd, IBV_MW_TYPE_2);
  ibv_mw_bind bind{};
  bind.bind_info = window_of(bench.b, 1024, 64, IBV_ACCESS_REMOTE_WRITE);
  checks.equal("ibv_bind_mw() of type 2", ibv_bind_mw(pair.b, mw, &bind), EINVAL);
  ibv_wc wc = bind_2(bench, pair.b, mw, bind.bind_info);
  checks.equal("a window of type 2", wc.status, IBV_WC_SUCCESS);
  checks.equal("completes as such", wc.opcode, IBV_WC_BIND_MW);
  const std::uint32_t rkey = mw->rkey;
  checks.equal("a WRITE through its queue pair", status_of_write(bench, rkey, 1024, pair.a),
               IBV_WC_SUCCESS);
  checks.equal("a region with a window", ibv_dereg_mr(bench.b.mr), EBUSY);
  ibv_send_wr wr = work(IBV_WR_LOCAL_INV, nullptr, 7);
  wr.invalidate_rkey = rkey;
  checks.equal("Local Invalidate", post(pair.b, wr), 0);
  wc = bench.b.next_completion();
  checks.equal("is done", wc.status, IBV_WC_SUCCESS);
  checks.equal("completes as such", wc.opcode, IBV_WC_LOCAL_INV);
  wc = bind_2(bench, pair.b, mw, bind.bind_info);
  checks.equal("bound again", wc.status, IBV_WC_SUCCESS);
  // The peer takes it away.
  post_receive(pair.b, bench.b.sge(0, 64), 20);
  ibv_sge data = bench.a.sge(0, 8);
  wr = work(IBV_WR_SEND_WITH_INV, &data);
  wr.invalidate_rkey = mw->rkey;
  post(pair.a, wr);
  checks.equal("SEND with Invalidate", bench.a.next_completion().status, IBV_WC_SUCCESS);
  wc = bench.b.next_completion();
  checks.equal("its flag", wc.wc_flags, IBV_WC_WITH_INV);
  checks.equal("its key", wc.invalidated_rkey, mw->rkey);
  checks.equal("a WRITE then", status_of_write(bench, mw->rkey, 1024, pair.a),
               IBV_WC_REM_ACCESS_ERR);
  bench.b.next_event();
  checks.equal("ibv_dealloc_mw", ibv_dealloc_mw(mw), 0);
}

void check_refused_binds(Bench& bench) {
  for (const Bind2Row& row : kRefusedBinds) {
    const Pair pair(bench, IBV_QPT_RC);
    ibv_mw* const mw = ibv_alloc_mw(bench.b.pd, IBV_MW_TYPE_2);
    ibv_mw_bind_info info = window_of(bench.b, 1024, 64, IBV_ACCESS_REMOTE_WRITE);
    row.change(bench, info);
    bench.checks->equal(row.what, bind_2(bench, pair.b, mw, info).status, IBV_WC_MW_BIND_ERR);
    bench.checks->equal(row.what, state_of(pair.b), IBV_QPS_ERR);
    bench.checks->equal("ibv_dealloc_mw", ibv_dealloc_mw(mw), 0);
  }
}

// mmap(2): memory that the program itself may not write, or not touch, is not for the HCA.
void check_protection(Bench& bench) {
  Checks& checks = *bench.checks;
  constexpr std::size_t kPage = 4096;
  auto* const pages = static_cast<unsigned char*>(
      mmap(nullptr, 3 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const auto registers = [&](std::size_t bytes, int access) {
    errno = 0;
    ibv_mr* const mr = ibv_reg_mr(bench.a.pd, pages, bytes, access);
    const int error = errno;
    return mr ? ibv_dereg_mr(mr) : error;
  };
  checks.equal("read-only memory, to be read", registers(3 * kPage, 0), 0);
  checks.equal("read-only memory, to be written", registers(kPage, IBV_ACCESS_LOCAL_WRITE), EFAULT);
  mprotect(pages, 3 * kPage, PROT_READ | PROT_WRITE);
  checks.equal("the same, writable", registers(3 * kPage, IBV_ACCESS_LOCAL_WRITE), 0);
  mprotect(pages + kPage, kPage, PROT_NONE);
  checks.equal("with a page in it that nobody may touch", registers(3 * kPage, 0), EFAULT);
  munmap(pages + kPage, kPage);
  checks.equal("with a hole", registers(3 * kPage, 0), EFAULT);
  checks.equal("in front of it", registers(kPage, IBV_ACCESS_LOCAL_WRITE), 0);
  munmap(pages, kPage), munmap(pages + 2 * kPage, kPage);
}

void check_rereg(Bench& bench) {
  Checks& checks = *bench.checks;
  End& b = bench.b;
  ibv_mr* const mr = ibv_reg_mr(b.pd, b.buffer.data(), 1024, kAllAccess);
  checks.equal("a WRITE beyond the region", status_of_write(bench, mr->rkey, 2048),
               IBV_WC_REM_ACCESS_ERR);
  checks.equal(
      "another place",
      ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, b.buffer.data() + 2048, 1024, 0),
      0);
  checks.holds("is in the structure", mr->addr == b.buffer.data() + 2048 && mr->length == 1024);
  checks.equal("a WRITE there", status_of_write(bench, mr->rkey, 2048), IBV_WC_SUCCESS);
  checks.equal("a WRITE where it was", status_of_write(bench, mr->rkey, 0), IBV_WC_REM_ACCESS_ERR);
  checks.equal(
      "other rights",
      ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_READ), 0);
  checks.equal("a WRITE then", status_of_write(bench, mr->rkey, 2048), IBV_WC_REM_ACCESS_ERR);
  ibv_pd* const pd = ibv_alloc_pd(b.context);
  checks.equal("another domain",
               ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS, pd, nullptr, 0,
                            kAllAccess),
               0);
  checks.holds("is in the structure", mr->pd == pd);
  checks.equal("a WRITE then", status_of_write(bench, mr->rkey, 2048), IBV_WC_REM_ACCESS_ERR);
  checks.equal("that domain", ibv_dealloc_pd(pd), EBUSY);
  checks.equal("a domain of another device",
               ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, bench.a.pd, nullptr, 0, 0),
               IBV_REREG_MR_ERR_INPUT);
  for (const int flags : {0, 8, int(IBV_REREG_MR_CHANGE_TRANSLATION), int(IBV_REREG_MR_CHANGE_PD)})
    checks.equal("what is not changed", ibv_rereg_mr(mr, flags, nullptr, nullptr, 0, 0),
                 IBV_REREG_MR_ERR_INPUT);
  checks.equal(
      "remote write without local write",
      ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE),
      IBV_REREG_MR_ERR_CMD);
  checks.equal("ibv_dereg_mr", ibv_dereg_mr(mr), 0);
  checks.equal("that domain", ibv_dealloc_pd(pd), 0);
}
}  // namespace

void check_memory(Bench& bench) {
  check_type_1(bench);
  check_type_2(bench);
  check_refused_binds(bench);
  check_rereg(bench);
  check_protection(bench);
}
}  // namespace cases
