// SPDX-License-Identifier: Apache-2.0
// Work requests of a vector.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "testbench/host/verbs_names.h"
#include "testbench/vectors/host.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr u32 kMaxSrqEntries = 1 << 15;

struct FlagName {
  std::string_view name;
  SendFlags flag;
};
constexpr std::array kFlags{FlagName{"fence", kFence}, FlagName{"solicited", kSolicited},
                            FlagName{"inline", kInline}};

// A step that posts is one work request, or a "list" of them for one call.
std::vector<JsonAt> work_requests_of(const JsonAt& json) {
  return json.has("list") ? json["list"].entries() : std::vector<JsonAt>{json};
}

// The error that came instead of the step's. `posted`: how many before the refused one.
std::optional<std::string> judge_error(const JsonAt& json, Error error, std::size_t posted,
                                       std::size_t all) {
  const std::string wanted = json.has("error") ? json["error"].text() : "success";
  if (wanted != name_of(error)) return fmt::format("expected {}, got {}", wanted, name_of(error));
  const std::size_t bad = json.has("bad") ? json["bad"].number() : error == Error::None ? all : 0;
  if (bad == posted) return std::nullopt;
  return fmt::format("expected the error at place {}, got it at {}", bad, posted);
}
}  // namespace

// ---- Work requests
std::vector<SgeList> VectorHost::sges_of(const JsonAt& json) const {
  std::vector<SgeList> list;
  if (!json.has("sge")) return list;
  for (const JsonAt& sge : json["sge"].entries()) {
    if (sge.value().is_object()) {
      list.push_back({plan_.symbols.value(sge["va"]),
                      u32(plan_.symbols.value(sge["bytes"], ~u32{0})),
                      u32(plan_.symbols.value(sge["key"], ~u32{0}))});
      continue;
    }
    const MemoryPlace& place = contents_.find(sge[0]);
    list.push_back({place.va + plan_.symbols.value(sge[1]),
                    u32(plan_.symbols.value(sge[2], ~u32{0})),
                    plan_.regions.at(sge[0].text()).attributes.key});
  }
  return list;
}

// The memory that a window or region names.
MemoryInfo VectorHost::memory_of(const JsonAt& json) const {
  MemoryInfo m;
  m.addr = plan_.symbols.value_or(json, "va", 0, ~u64{0});
  m.length = plan_.symbols.value_or(json, "bytes", 0, ~u64{0});
  m.lkey = u32(plan_.symbols.value_or(json, "key", 0, ~u32{0}));
  m.access = Rights(plan_.symbols.value_or(json, "access", 0, 0xffff));
  m.physical = plan_.symbols.value_or(json, "physical", 0, ~u64{0});
  m.log_page = u8(plan_.symbols.value_or(json, "log_page", 0, 0xff));
  return m;
}

namespace {
// The fields of a device structure that a step names.
void set_fields(u8* bytes, const HeaderInfo& structure, const JsonAt& json,
                const Symbols& symbols) {
  for (const auto& [name, unused] : json.value().items())
    set_field(bytes, *find_field(structure, name), json[name], symbols);
}
}  // namespace

SendWr VectorHost::send_wr_of(const JsonAt& json, const VectorQp& qp, std::vector<SgeList>& sges) {
  SendWr wr;
  sges = sges_of(json);
  wr.opcode = *work_opcode_of(json["op"].text());
  wr.wr_id = plan_.symbols.value_or(json, "wr_id", 0, ~u64{0});
  wr.send_flags = json.has("unsignaled") ? 0 : u32(kSignaled);
  if (json.has("flags"))
    for (const JsonAt& flag : json["flags"].entries()) {
      const auto row = std::find_if(kFlags.begin(), kFlags.end(),
                                    [&](const FlagName& f) { return f.name == flag.text(); });
      wr.send_flags |= row->flag;
    }
  if (json.has("inline")) {
    const std::vector<u8> bytes = contents_.bytes_of(json["inline"], plan_.symbols);
    const u64 at = verbs_.alloc(std::max<u64>(bytes.size(), 1));
    verbs_.memory().write(at, bytes);
    sges = {{at, u32(bytes.size()), 0}};
    wr.send_flags |= kInline;
  }
  wr.sg_list = sges;
  wr.remote_addr = plan_.symbols.value_or(json, "remote", 0, ~u64{0});
  wr.remote_srqn = u32(plan_.symbols.value_or(json, "remote_srq", 0, ~u32{0}));
  wr.rkey = u32(plan_.symbols.value_or(json, "rkey", 0, ~u32{0}));
  for (const char* key : {"imm", "invalidate"})
    if (json.has(key)) wr.imm_data = u32(plan_.symbols.value(json[key], ~u32{0}));
  wr.compare_add = plan_.symbols.value_or(json, json.has("add") ? "add" : "compare", 0);
  wr.swap = plan_.symbols.value_or(json, "swap", 0, ~u64{0});
  if (json.has("memory")) wr.memory = memory_of(json["memory"]);
  wr.ah = qp.to_peer;
  if (json.has("ah")) {
    std::array<u8, kAddressHandleBytes> handle;
    encode(wr.ah, handle.data());
    set_fields(handle.data(), kHeaderInfo<AddressHandle>, json["ah"], plan_.symbols);
    wr.ah = decode<AddressHandle>(handle.data());
  }
  wr.rd = qp.rd_to_peer;
  if (json.has("rd")) {
    std::array<u8, kRdAddressBytes> address;
    encode(wr.rd, address.data());
    set_fields(address.data(), kHeaderInfo<RdAddress>, json["rd"], plan_.symbols);
    wr.rd = decode<RdAddress>(address.data());
  }
  if (json.has("operands"))
    set_fields(wr.operands.bytes.data(), row_of(kWorkRows[std::size_t(wr.opcode)].operands).layout,
               json["operands"], plan_.symbols);
  wr.push = json.has("push") && json["push"].truth();
  return wr;
}

std::optional<std::string> VectorHost::post_send(const JsonAt& json) {
  std::deque<std::vector<SgeList>> sges;
  std::vector<SendWr> list;
  for (const JsonAt& one : work_requests_of(json))
    list.push_back(send_wr_of(one, qp_of(json), sges.emplace_back()));
  std::size_t posted = 0;
  const Error error = verbs_.post_send(*qp_of(json).qp, list, &posted);
  return judge_error(json, error, posted, list.size());
}

std::optional<std::string> VectorHost::post_recv(const JsonAt& json) {
  std::deque<std::vector<SgeList>> sges;
  std::vector<RecvWr> list;
  for (const JsonAt& one : work_requests_of(json)) {
    sges.push_back(sges_of(one));
    list.push_back({plan_.symbols.value_or(one, "wr_id", 0, ~u64{0}), sges.back()});
  }
  std::size_t posted = 0;
  const Error error = json.has("srq") ? verbs_.post_srq_recv(srq_of(json), list, &posted)
                                      : verbs_.post_recv(*qp_of(json).qp, list, &posted);
  return judge_error(json, error, posted, list.size());
}

namespace {
// "queue": whether a step means the receive queue; the send queue if it does not say.
bool means_receive_queue(const JsonAt& json) {
  return json.has("queue") && json["queue"].text() == "receive";
}
}  // namespace

void VectorHost::make_unreadable(const JsonAt& json) {
  if (json.has("region")) {
    const MemoryPlace& place = contents_.find(json["region"]);
    const u64 at = json.has("at") ? plan_.symbols.value(json["at"], place.bytes) : 0;
    const u64 bytes = plan_.symbols.value_or(json, "bytes", place.bytes - at, place.bytes - at);
    return device_.memory().make_unreadable(place.physical + at, bytes);
  }
  if (json.has("srq")) {
    const Srq& srq = srq_of(json);
    return device_.memory().make_unreadable(srq.address, srq.slots.size() << srq.log_stride);
  }
  json.check_keys({"qp", "queue"});
  const Qp& qp = *qp_of(json).qp;
  if (means_receive_queue(json))
    device_.memory().make_unreadable(qp.rq_address, qp.recv_ids.size() << qp.rq_log_stride);
  else
    device_.memory().make_unreadable(qp.sq_address, qp.send_ids.size() << qp.sq_log_stride);
}

void VectorHost::make_unwritable(const JsonAt& json) {
  tlm_::HostMemory& memory = device_.memory();
  if (json.has("cq")) {
    const Cq& cq = cq_of(json);
    return memory.make_unwritable(cq.address, u64{cq.entries()} * kCqeBytes);
  }
  const std::string& which = json["events"].text();
  if (which == "message") return memory.make_unwritable(channel_->message, kMessageBytes);
  const CompChannel& queue = which == "completion" ? *channel_ : *async_;
  memory.make_unwritable(queue.address, u64{queue.entries()} * kEqeBytes);
}

// A WQE field by field, as no driver would write it, and its doorbell.
void VectorHost::post_raw(const JsonAt& json) {
  json.check_keys({"qp", "srq", "queue", "fields", "sge", "wr_id"});
  Srq* const srq = json.has("srq") ? &srq_of(json) : nullptr;
  Qp* const qp = srq ? nullptr : qp_of(json).qp;
  const bool receives = srq || means_receive_queue(json);
  const std::vector<SgeList> sges = sges_of(json);
  const HeaderInfo& info = receives ? kHeaderInfo<ReceiveWqe> : kHeaderInfo<SendWqe>;
  const Service service = receives ? Service::Rc : qp->cap.service;
  const u32 segments = info.bytes + destination_bytes(service);
  std::vector<u8> wqe(segments + sges.size() * kSgeBytes);
  if (service == Service::Ud) encode(qp_of(json).to_peer, wqe.data() + info.bytes);
  if (service == Service::Rd) encode(qp_of(json).rd_to_peer, wqe.data() + info.bytes);
  u32& posted = srq ? srq->posted : receives ? qp->rq_posted : qp->sq_posted;
  if (receives)
    encode(ReceiveWqe{u8(sges.size()), u16(posted)}, wqe.data());
  else
    encode(SendWqe{WorkOpcode::Send, true, false, false, false, u8(sges.size()), u16(posted), 0, 0,
                   0, 0},
           wqe.data());
  for (std::size_t i = 0; i < sges.size(); ++i)
    encode(Sge{sges[i].addr, sges[i].lkey, sges[i].length}, wqe.data() + segments + i * kSgeBytes);
  if (json.has("fields")) set_fields(wqe.data(), info, json["fields"], plan_.symbols);
  const u64 id = plan_.symbols.value_or(json, "wr_id", 0);
  const BarOffset bell = srq        ? BarOffset::SharedDoorbell
                         : receives ? BarOffset::ReceiveDoorbell
                                    : BarOffset::SendDoorbell;
  const auto put = [&](u64 ring, u32 slot, u8 log_stride) {
    verbs_.memory().write(ring + (u64{slot} << log_stride), wqe);
  };
  if (srq) {
    const u32 slot = posted & u32(srq->slots.size() - 1);
    put(srq->address, slot, srq->log_stride);
    srq->outstanding += !srq->slots[slot].in_use;
    srq->slots[slot] = {id, true};
  } else {
    std::vector<u64>& ids = receives ? qp->recv_ids : qp->send_ids;
    const u32 slot = posted & u32(ids.size() - 1);
    put(receives ? qp->rq_address : qp->sq_address, slot,
        receives ? qp->rq_log_stride : qp->sq_log_stride);
    ids[slot] = id;
  }
  ++posted;
  std::array<u8, 8> bytes;
  encode(QueueDoorbell{srq ? srq->srqn : qp->qpn, u16(posted)}, bytes.data());
  device_.mmio_write(u32(bell), bytes);
}

std::optional<std::string> VectorHost::resize_srq(const JsonAt& json) {
  json.check_keys({"srq", "max_wr", "error"});
  const Error error =
      verbs_.resize_srq(srq_of(json), u32(plan_.symbols.value(json["max_wr"], kMaxSrqEntries)));
  return judge_error(json, error, 0, 0);
}

std::optional<std::string> VectorHost::resize_cq(const JsonAt& json) {
  json.check_keys({"cq", "entries", "error"});
  const Error error =
      verbs_.resize_cq(cq_of(json), u32(plan_.symbols.value(json["entries"], kMaxCqEntries)));
  return judge_error(json, error, 0, 0);
}
}  // namespace hca::testbench
