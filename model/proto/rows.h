// SPDX-License-Identifier: Apache-2.0
// Table rows of different types: the function of std::tuple, as an aggregate without constructors.
// Each source reads dozens of such tables; std::tuple caused half of their compile time.
#pragma once
#include <cstddef>
#include <utility>

namespace hca {
template <std::size_t I, class T>
struct RowAt {
  T value;
};
template <class Places, class... T>
struct RowsAt;
template <std::size_t... I, class... T>
struct RowsAt<std::index_sequence<I...>, T...> : RowAt<I, T>... {};

template <class... T>
using Rows = RowsAt<std::index_sequence_for<T...>, T...>;

template <class... T>
constexpr Rows<T...> make_rows(const T&... row) {
  return {{row}...};
}

template <class Table>
inline constexpr std::size_t kRowCount = 0;
template <std::size_t... I, class... T>
inline constexpr std::size_t kRowCount<RowsAt<std::index_sequence<I...>, T...>> = sizeof...(T);

template <std::size_t I, class T>
constexpr const T& row_at(const RowAt<I, T>& rows) {
  return rows.value;
}

// fn(first row, second row, ...)
template <class Fn, std::size_t... I, class... T>
constexpr decltype(auto) with_rows(Fn&& fn, const RowsAt<std::index_sequence<I...>, T...>& rows) {
  return fn(row_at<I>(rows)...);
}

// The rows of both.
template <std::size_t... I, class... T, std::size_t... J, class... U>
constexpr Rows<T..., U...> join_rows(const RowsAt<std::index_sequence<I...>, T...>& front,
                                     const RowsAt<std::index_sequence<J...>, U...>& back) {
  return make_rows(row_at<I>(front)..., row_at<J>(back)...);
}
template <class Front>
constexpr Front join_all(const Front& front) {
  return front;
}
template <class Front, class Next, class... More>
constexpr auto join_all(const Front& front, const Next& next, const More&... more) {
  return join_all(join_rows(front, next), more...);
}
}  // namespace hca
