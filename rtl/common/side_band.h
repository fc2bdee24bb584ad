// SPDX-License-Identifier: Apache-2.0
// The bits beside the data of a beat: one header, or several in sequence. The SystemVerilog struct
// of the same side band is generated from the same tables, so both sides always agree on the bits.
#pragma once
#include "model/proto/wire/layout.h"

namespace hca::rtl {
// A header of a side band: a member, or a base whose fields are the side band's.
template <class Control, class Header>
struct Part {
  std::string_view name{};
  Header Control::*at = nullptr;
  template <class C>
  constexpr auto& of(C& control) const {
    if constexpr (std::is_base_of_v<Header, Control>)
      return static_cast<std::conditional_t<std::is_const_v<C>, const Header, Header>&>(control);
    else
      return control.*at;
  }
};

// A side band of one header.
template <class Control>
struct SideBand {
  static constexpr unsigned kBytes = proto::bytes_of<Control>();
  static constexpr std::string_view kName = proto::Layout<Control>::name;
  static void encode(const Control& control, u8* out) { proto::encode(control, out); }
  static void decode(const u8* in, Control& control) { proto::decode_to(in, control); }
  // Calls fn(name, header as data, offset of its first byte).
  template <class Fn>
  static void for_each_part(Fn&& fn) {
    fn(std::string_view(), proto::kHeaderInfo<Control>, 0u);
  }
};

// A side band of several headers: Control::kName and Control::parts(), a tuple of Part. The first
// one is in the most significant bits.
template <class Control>
requires requires { Control::parts(); }
struct SideBand<Control> {
  template <class Header>
  static constexpr unsigned bytes_of_part(const Part<Control, Header>&) {
    return proto::bytes_of<Header>();
  }
  static constexpr unsigned kBytes =
      with_rows([](const auto&... p) { return (bytes_of_part(p) + ...); }, Control::parts());
  static constexpr std::string_view kName = Control::kName;
  static void encode(const Control& control, u8* out) {
    const auto put = [&](const auto& p) {
      proto::encode(p.of(control), out);
      out += bytes_of_part(p);
    };
    with_rows([&](const auto&... p) { (put(p), ...); }, Control::parts());
  }
  static void decode(const u8* in, Control& control) {
    const auto take = [&](const auto& p) {
      proto::decode_to(in, p.of(control));
      in += bytes_of_part(p);
    };
    with_rows([&](const auto&... p) { (take(p), ...); }, Control::parts());
  }
  template <class Fn>
  static void for_each_part(Fn&& fn) {
    unsigned from = 0;
    const auto show = [&]<class Header>(const Part<Control, Header>& p) {
      fn(p.name, proto::kHeaderInfo<Header>, from);
      from += bytes_of_part(p);
    };
    with_rows([&](const auto&... p) { (show(p), ...); }, Control::parts());
  }
};
}  // namespace hca::rtl
