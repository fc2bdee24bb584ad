// SPDX-License-Identifier: Apache-2.0
// Converts the items of the units to the pins of their RTL and back, for blocks in the path of the
// model: the Pins of RtlStandIn.
#pragma once
#include <vector>

#include "model/blocks/lib/stand_in.h"
#include "rtl/cpp/completion_rtl.h"
#include "rtl/cpp/icrc_rtl.h"
#include "rtl/cpp/packetizer_rtl.h"
#include "rtl/cpp/requester_psn_rtl.h"
#include "rtl/cpp/responder_check_rtl.h"
#include "rtl/cpp/rx_parser_rtl.h"
#include "testbench/lockstep/step_side_bands.h"

namespace hca::testbench {
// A look-up of a block whose items have one beat without data: the requested number and the time of
// the answer.
class Asked {
 public:
  explicit Asked(u32 number) : number_(number) {}
  void look(const char* what, std::optional<u32> asked);  // another number is an error
  // True: it was requested in an earlier cycle and is not answered yet.
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

// Pins of a block whose items are steps of one beat with a context. Derived has number_of(item),
// request_of(item), context_of(item) and finish(item).
template <class Derived, class I, class R, class InBand, class OutBand>
class StepPins {
 public:
  using Item = I;
  using Rtl = R;
  using In = InBand;
  using Out = OutBand;
  using LookUps = rtl::PinsOf<Out>;

  explicit StepPins(const Item& item) : item_(item), asked_(Derived::number_of(item)) {}
  std::span<const u8> sent() const { return {}; }
  void set_side_band(In& control) const {
    put_step(Derived::number_of(item_), Derived::request_of(item_), control);
  }
  bool answer(LookUps& look_ups) {
    const bool asked = asked_.take();
    const typename LookUps::Context context = Derived::context_of(item_);
    look_ups.answer(asked ? &context : nullptr);
    return asked;
  }
  void look(const LookUps& look_ups) { asked_.look("context", look_ups.context_asked()); }
  void take(const rtl::BeatOf<Out>& beat) { stepped_ = beat.control; }

 protected:
  const Out& stepped() const { return stepped_; }

 private:
  const Item& item_;
  Asked asked_;
  Out stepped_{};
};

struct RequesterPsnPins : StepPins<RequesterPsnPins, blocks::RequesterPsnItem, rtl::RequesterPsnRtl,
                                   rtl::PsnStepBeat, rtl::PsnStepped> {
  static constexpr const char* kName = "requester_psn";
  using StepPins::StepPins;
  static u32 number_of(const Item& item) { return item.number(); }
  static const blocks::PsnRequest& request_of(const Item& item) { return item.request; }
  static rtl::PsnContext context_of(const Item& item);
  void finish(Item& item) const;
};

struct CompletionPins : StepPins<CompletionPins, blocks::CompletionItem, rtl::CompletionRtl,
                                 rtl::CqStepBeat, rtl::CqStepped> {
  static constexpr const char* kName = "completion";
  using StepPins::StepPins;
  static u32 number_of(const Item& item) { return item.cqn; }
  static const blocks::CqRequest& request_of(const Item& item) { return *item.request; }
  static rtl::CqContext context_of(const Item& item);
  void finish(Item& item) const;
};
}  // namespace hca::testbench
