// SPDX-License-Identifier: Apache-2.0
// rtl/icrc/icrc.sv with a TLM-2.0 target socket: a payload's data are a frame with room for the
// CRCs at its end, the address is its framing. When b_transport returns, the CRCs are inserted and
// the delay has grown by the cycles of the RTL.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdio>

#include "rtl/cpp/icrc_rtl.h"
#include "testbench/examples/frames.h"

namespace {
using hca::rtl::Beat;
using namespace example;
constexpr u32 kBeatBytes = 32, kLatency = 5;  // cycles, first beat in to first beat out
constexpr u32 kPatience = 1000;               // cycles
constexpr u8 kGenerate = 1;                   // icrc_mode_e

struct Icrc : sc_core::sc_module {
  tlm_utils::simple_target_socket<Icrc> target{"target"};
  const sc_core::sc_time cycle{2, sc_core::SC_NS};

  explicit Icrc(const sc_core::sc_module_name& name) : sc_module(name) {
    target.register_b_transport(this, &Icrc::transport);
  }

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const auto framing = hca::proto::Framing(payload.get_address());
    const u32 length = payload.get_data_length(), bytes = length - crc_bytes(framing);
    u8* const data = payload.get_data_ptr();
    Bytes out;
    u32 at = 0;
    bool last = false;
    for (u32 n = 0; !last && n < kPatience; ++n, delay += cycle) {
      rtl_.begin_cycle(true);
      Beat beat;
      const bool sends = at < bytes && (at || rtl_.in_ready());
      if (sends) {
        beat.control.framing = u8(framing), beat.control.mode = kGenerate;
        beat.control.first = !at;
        beat.control.bytes = u8(std::min(kBeatBytes, bytes - at));
        std::copy_n(data + at, beat.control.bytes, beat.data.begin());
        at += beat.control.bytes;
        beat.control.last = at == bytes;
      }
      rtl_.drive(sends ? &beat : nullptr);
      if (rtl_.out_valid()) {
        const Beat left = rtl_.out();
        out.insert(out.end(), left.data.begin(), left.data.begin() + left.control.bytes);
        last = left.control.last;
      }
      rtl_.end_cycle();
    }
    const bool ok = out.size() == length && !rtl_.assertion_failed();
    if (ok) std::copy(out.begin(), out.end(), data);
    payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  hca::rtl::IcrcRtl rtl_{kBeatBytes};
};

struct User : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<User> initiator{"initiator"};
  explicit User(const sc_core::sc_module_name& name) : sc_module(name) {}

  bool passes(const Known& known, sc_core::sc_time cycle) {
    Bytes frame = known.frame, wanted = known.frame;
    frame.resize(frame.size() + known.crcs.size());
    wanted.insert(wanted.end(), known.crcs.begin(), known.crcs.end());
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(u32(known.framing));
    payload.set_data_ptr(frame.data());
    payload.set_data_length(u32(frame.size()));
    payload.set_streaming_width(u32(frame.size()));
    sc_core::sc_time delay;
    initiator->b_transport(payload, delay);
    const u32 beats = (u32(frame.size()) + kBeatBytes - 1) / kBeatBytes;
    return payload.is_response_ok() && frame == wanted && delay == cycle * (kLatency + beats);
  }
};
}  // namespace

int sc_main(int, char**) {
  Icrc icrc("icrc");
  User user("user");
  user.initiator.bind(icrc.target);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  u32 good = 0;
  for (const Known& known : known_frames()) good += user.passes(known, icrc.cycle);
  std::printf("%u frames have their ICRCs\n", good);
  return good == known_frames().size() ? 0 : 1;
}
