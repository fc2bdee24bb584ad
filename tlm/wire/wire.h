// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <functional>
#include <systemc>
#include <vector>

#include "model/engine/random.h"
#include "model/systemc/direct_socket.h"
#include "model/systemc/wire_extension.h"
#include "tlm/wire/fault_script.h"
#include "tlm/wire/wire_config.h"

namespace hca::tlm_ {
// A full duplex cable between two wire sockets. A frame arrives as a generic payload whose delay
// gives the entry of its first bit; it leaves as the same payload, later by the latency. Faults of
// the script act on copies, so the sender's buffer does not change.
//  - A reordered frame follows the next one of its direction, if there is one. A delayed frame may
//    overlap others on the wire. After a duplicate all later frames are delayed as far as needed.
//  - Without FEC a frame of b bits has a bit error with the probability b in 10^bit_errors, by a
//    seed, and is lost.
//  - A cable that breaks for a while loses the frames that enter meanwhile; the ends react by
//    themselves (Hca::change_cable).
// None of this affects flow control frames of the link.
class Wire : public sc_core::sc_module {
  void b_transport(int sender, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

 public:
  static constexpr unsigned kEnds = 2;
  // Called for each frame that leaves the wire, with its sender and the time of its first bit at
  // the receiver; or for each that enters it, with that time.
  using Tap = std::function<void(u8 sender, sc_core::sc_time at, const proto::FrameView& frame)>;

  DirectTargetSocketTagged<Wire, &Wire::b_transport> from_a{"from_a"}, from_b{"from_b"};
  tlm_utils::simple_initiator_socket<Wire> to_a{"to_a"}, to_b{"to_b"};

  Wire(sc_core::sc_module_name name, const WireConfig& config, FaultScript faults = {},
       u64 seed = 0);
  // Taps are called in the order in which they were added; a tap is removed by its number.
  unsigned add_tap(Tap tap) {
    taps_.push_back({next_tap_, std::move(tap)});
    return next_tap_++;
  }
  void remove_tap(unsigned number) {
    std::erase_if(taps_, [&](const auto& tap) { return tap.first == number; });
  }
  // Called for frames that enter the wire, lost or not; it cannot be removed.
  void add_entry_tap(Tap tap) {
    entry_taps_.push_back(std::move(tap));
    look();
  }
  const FaultScript& faults() const { return faults_; }
  // The records since the last call, for a run without end.
  std::vector<FaultRecord> take_fault_records() { return faults_.take_records(); }
  // Called from outside the simulation: faults for frames that enter from now on.
  void add_fault(const FaultRule& rule) {
    faults_.add(rule);
    look();
  }
  void clear_faults() {
    faults_.clear();
    look();
  }
  // Delivers a reordered frame that no other frame has followed, `delay` from now; false: none
  // waits. Call it from outside the simulation, while nothing is in flight.
  bool release_held(const sc_core::sc_time& delay);
  u64 frames(u8 sender) const { return ends_[sender].frames; }
  // Frames with bit errors.
  u64 damaged(u8 sender) const { return ends_[sender].damaged; }
  // True if the cable is broken, or was.
  bool has_broken() const;
  // Frames that entered while the cable was broken.
  u64 lost(u8 sender) const { return ends_[sender].lost; }

 private:
  struct End {
    BlockingTransport* to = nullptr;  // receiver of its frames, from end_of_elaboration() on
    u64 frames = 0;
    bool moved = false;          // a fault moved frames: the next arrives no earlier than
    sc_core::sc_time free_from;  // at the far end
    u64 damaged = 0, lost = 0;
    FrameCopy held;  // waits for the next frame
  };
  void apply(const FaultRule& rule, u8 sender, tlm::tlm_generic_payload& payload,
             sc_core::sc_time delay);
  void forward(u8 sender, tlm::tlm_generic_payload& payload, sc_core::sc_time arrival);
  void tell_taps(u8 sender, const tlm::tlm_generic_payload& payload, sc_core::sc_time at) const;
  void forward_copy(u8 sender, const FrameCopy& copy, sc_core::sc_time arrival);
  void release_held(u8 sender, const sc_core::sc_time& delay);
  void forward_held(u8 sender, const sc_core::sc_time& delay);
  void end_of_elaboration() final {
    ends_[0].to = shortest_way(to_b.operator->());
    ends_[1].to = shortest_way(to_a.operator->());
  }
  // From now until the first bit reaches the far end, not before the last frame moved by a fault.
  sc_core::sc_time arrival(u8 sender, sc_core::sc_time delay, u64 bytes);
  sc_core::sc_time arrival_behind(u8 sender, sc_core::sc_time delay, u64 bytes);
  sc_core::sc_time time_of(u64 bytes) const;
  bool is_damaged(u8 sender, u64 bytes);
  void look();  // inspects entering frames, or not
  // Reports an entering frame, which may be hit by a fault; true: it goes no further.
  bool enters(u8 sender, tlm::tlm_generic_payload& payload, sc_core::sc_time delay);

  // Members that each frame needs lie side by side.
  sc_core::sc_time latency_;
  bool looks_ = false;    // may_hit_, or there is a tap of entering frames
  bool may_hit_ = false;  // faults, bit errors or a break
  std::vector<std::pair<unsigned, Tap>> taps_;
  std::array<End, kEnds> ends_;

  WireConfig config_;
  FaultScript faults_;
  // For damage and for bit errors, by sender: the execution order of the chips is not fixed.
  std::array<engine::Random, kEnds> random_, errors_;
  u64 error_bits_ = 0;  // one bit error in this many bits; 0: none
  std::vector<Tap> entry_taps_;
  unsigned next_tap_ = 0;
};
}  // namespace hca::tlm_
