// SPDX-License-Identifier: Apache-2.0
// From the items of the units to the pins of their RTL and back, for blocks that stand in the path
// of the model: the Pins of RtlStandIn.
#pragma once
#include <vector>

#include "model/blocks/stand_in.h"
#include "rtl/completion_rtl.h"
#include "rtl/icrc_rtl.h"
#include "rtl/packetizer_rtl.h"
#include "rtl/requester_psn_rtl.h"
#include "rtl/responder_check_rtl.h"
#include "rtl/rx_parser_rtl.h"
#include "testbench/lockstep/step_side_bands.h"

namespace hca::testbench {
// Of a block whose items have one beat without data: what is asked for, and when it is answered.
class Asked {
 public:
  explicit Asked(u32 number) : number_(number) {}
  void look(const char* what, std::optional<u32> asked);  // another number is an error
  // True: it was asked for in a cycle before, and is not answered yet.
  bool take() { return std::exchange(waits_, false); }

 private:
  u32 number_;
  bool waits_ = false;
};

struct IcrcPins {
  using Item = blocks::IcrcItem;
  using Rtl = rtl::IcrcRtl;
  using In = rtl::BeatControl;
  using Out = rtl::BeatControl;
  static constexpr const char* kName = "icrc";

  explicit IcrcPins(const Item& item);
  std::span<const u8> sent() const { return bytes_; }
  void set_side_band(In& control) const;
  void take(const rtl::Beat& beat);
  void finish(Item& item) const;

 private:
  const Item& item_;
  std::vector<u8> bytes_, left_;
  rtl::BeatControl last_{};
};

struct PacketizerPins {
  using Item = blocks::PacketizerItem;
  using Rtl = rtl::PacketizerRtl;
  using In = rtl::Descriptor;
  using Out = rtl::BeatControl;
  static constexpr const char* kName = "packetizer";

  explicit PacketizerPins(const Item& item);
  std::span<const u8> sent() const { return {item_.payload, item_.payload_bytes}; }
  void set_side_band(In& control) const;
  void take(const rtl::Beat& beat);
  void finish(Item& item) const;

 private:
  const Item& item_;
  rtl::Descriptor descriptor_{};
  std::vector<u8> left_;
};

struct RxParserPins {
  using Item = blocks::RxParserItem;
  using Rtl = rtl::RxParserRtl;
  using In = rtl::BeatControl;
  using Out = rtl::Parsed;
  static constexpr const char* kName = "rx_parser";

  explicit RxParserPins(const Item& item) : item_(item) {}
  std::span<const u8> sent() const { return item_.frame; }
  void set_side_band(In& control) const;
  void take(const rtl::BeatOf<rtl::Parsed>& beat);
  void finish(Item& item) const;

 private:
  const Item& item_;
  std::vector<u8> payload_;
  std::optional<proto::PacketVerdict> headers_{};
  rtl::Parsed last_{};
};

struct ResponderCheckPins {
  using Item = blocks::ResponderCheckItem;
  using Rtl = rtl::ResponderCheckRtl;
  using In = rtl::Parsed;
  using Out = rtl::Judged;
  static constexpr const char* kName = "responder_check";

  explicit ResponderCheckPins(const Item& item);
  std::span<const u8> sent() const { return {}; }
  void set_side_band(In& control) const;
  bool answer(rtl::LookUpPins& look_ups);
  void look(const rtl::LookUpPins& look_ups);
  void take(const rtl::BeatOf<rtl::Judged>& beat) { judged_ = beat.control; }
  void finish(Item& item) const;

 private:
  const Item& item_;
  rtl::Parsed headers_{};
  rtl::CheckedContext context_{};
  rtl::CheckedRegion region_{};
  Asked context_asked_, region_asked_;
  rtl::Judged judged_{};
};

struct RequesterPsnPins {
  using Item = blocks::RequesterPsnItem;
  using Rtl = rtl::RequesterPsnRtl;
  using In = rtl::PsnStepBeat;
  using Out = rtl::PsnStepped;
  static constexpr const char* kName = "requester_psn";

  explicit RequesterPsnPins(const Item& item) : item_(item), asked_(item.qpn) {}
  std::span<const u8> sent() const { return {}; }
  void set_side_band(In& control) const { put_step(item_.qpn, item_.request, control); }
  bool answer(rtl::ContextPins<rtl::PsnContext>& look_ups);
  void look(const rtl::ContextPins<rtl::PsnContext>& look_ups);
  void take(const rtl::BeatOf<rtl::PsnStepped>& beat) { stepped_ = beat.control; }
  void finish(Item& item) const;

 private:
  const Item& item_;
  Asked asked_;
  rtl::PsnStepped stepped_{};
};

struct CompletionPins {
  using Item = blocks::CompletionItem;
  using Rtl = rtl::CompletionRtl;
  using In = rtl::CqStepBeat;
  using Out = rtl::CqStepped;
  static constexpr const char* kName = "completion";

  explicit CompletionPins(const Item& item) : item_(item), asked_(item.cqn) {}
  std::span<const u8> sent() const { return {}; }
  void set_side_band(In& control) const { put_step(item_.cqn, *item_.request, control); }
  bool answer(rtl::ContextPins<rtl::CqContext>& look_ups);
  void look(const rtl::ContextPins<rtl::CqContext>& look_ups);
  void take(const rtl::BeatOf<rtl::CqStepped>& beat) { stepped_ = beat.control; }
  void finish(Item& item) const;

 private:
  const Item& item_;
  Asked asked_;
  rtl::CqStepped stepped_{};
};
}  // namespace hca::testbench
