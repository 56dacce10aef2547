// SPDX-License-Identifier: Apache-2.0
#pragma once

// A reference to a callable: two words, no ownership, no allocation.

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace hccl::inline v0::detail {

template <class Signature>
class function_ref;

/// Refers to a callable that outlives it.
template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
 public:
  template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, function_ref> &&
             std::invocable<Callable&, Arguments...>)
  function_ref(Callable&& callable)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))(
              std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(object_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace hccl::inline v0::detail
