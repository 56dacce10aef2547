// SPDX-License-Identifier: Apache-2.0
#pragma once

// What hccl asks of AscendCL.

#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/device_reduction.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>

namespace hccl::inline v0 {

/// The calls of AscendCL that memory and transport stand on, all static: `CannRuntime` and `SimulatedRuntime` model it.
///
/// A thread works in a context: that of the device that it has set by `use`, or one that the program has made.
/// `current()` is that of this thread, if it has one, and `enter(context)` changes it. Calls throw `hccl::error` with the text
/// of the runtime: `out_of_memory`, else `device_failed`; those that free do not throw. `begin_copy` and `begin_reduce`
/// return while a stream works, in order; `finish(stream)` waits for it. `reach(device)` lets the current device copy from
/// another one, and may be repeated.
template <class R>
concept AscendRuntime =
    std::equality_comparable<typename R::context> &&
    requires(void* to, const void* from, std::size_t bytes, copy_direction direction, int device,
             typename R::context place, typename R::stream on, device_reduction what) {
      { R::name } -> std::convertible_to<std::string_view>;
      { R::current() } noexcept -> std::same_as<std::optional<typename R::context>>;
      R::enter(place);
      R::use(device);
      R::reach(device);
      { R::allocate(bytes) } -> std::same_as<void*>;
      { R::deallocate(to) } noexcept;
      { R::allocate_pinned(bytes) } -> std::same_as<void*>;
      { R::deallocate_pinned(to) } noexcept;
      R::copy(to, from, bytes, direction);
      { R::make_stream() } -> std::same_as<typename R::stream>;
      { R::destroy_stream(on) } noexcept;
      R::begin_copy(to, from, bytes, direction, on);
      { R::reduces(what) } -> std::same_as<bool>;
      R::begin_reduce(to, from, bytes, what, on);
      R::finish(on);
    };

}  // namespace hccl::inline v0
