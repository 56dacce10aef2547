// SPDX-License-Identifier: Apache-2.0

// AscendCL, simulated: streams, and functions of the host in them.

#include "call.hpp"

#include <acl/acl_sim.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace acl_sim;

constexpr std::size_t most_streams = 1984;  // of a device

aclError create_stream(std::string_view call, aclrtStream* made) {
  if (made == nullptr) return null_argument(call, "stream");
  return in_context(call, [&](machine& m, const std::shared_ptr<context>& here) {
    const auto on_device = [&](const made_stream& s) { return s.owner->device == here->device; };
    if (m.streams().all(on_device).size() >= most_streams) {
      return fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, call, ": device ", here->device, " has ", most_streams,
                  " streams already");
    }
    *made = m.streams().add(std::make_shared<made_stream>(here));
    return ACL_SUCCESS;
  });
}

/// Ends a stream, after its tasks or at once.
aclError destroy_stream(std::string_view call, aclrtStream gone, bool waits) {
  if (gone == nullptr) return null_argument(call, "stream");
  return in_context(call, [&](machine& m, const auto&) {
    const auto found = m.streams().remove(gone);
    if (!found) return fail(ACL_ERROR_RT_INVALID_HANDLE, call, ": stream ", text_of(gone), " does not exist");
    if (!waits) found->work.abort();
    const aclError code = found->work.synchronize({});
    return waits ? code : ACL_SUCCESS;
  });
}

/// How a function of the host has ended.
struct outcome {
  aclError code = ACL_SUCCESS;
  std::string why;
};

/// That of the function that runs in this thread, or null.
outcome*& running_function() {
  static thread_local outcome* running = nullptr;
  return running;
}

}  // namespace

extern "C" {

aclError aclrtCreateStream(aclrtStream* made) { return create_stream("aclrtCreateStream", made); }

aclError aclrtCreateStreamWithConfig(aclrtStream* made, std::uint32_t, std::uint32_t) {
  return create_stream("aclrtCreateStreamWithConfig", made);
}

aclError aclrtDestroyStream(aclrtStream gone) { return destroy_stream("aclrtDestroyStream", gone, true); }

aclError aclrtDestroyStreamForce(aclrtStream gone) {
  return destroy_stream("aclrtDestroyStreamForce", gone, false);
}

aclError aclrtSynchronizeStream(aclrtStream handle) {
  return on_stream("aclrtSynchronizeStream", handle,
                   [](machine&, const auto&, const auto& on) { return on->synchronize({}); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream handle, std::int32_t timeout) {
  return on_stream("aclrtSynchronizeStreamWithTimeout", handle, [&](machine&, const auto&, const auto& on) {
    return on->synchronize(patience_of(timeout));
  });
}

aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus* status) {
  if (status == nullptr) return null_argument("aclrtStreamQuery", "status");
  return on_stream("aclrtStreamQuery", handle, [&](machine&, const auto&, const auto& on) {
    *status = on->is_idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
  });
}

aclError aclrtStreamWaitEvent(aclrtStream handle, aclrtEvent awaited) {
  return on_stream("aclrtStreamWaitEvent", handle, [&](machine& m, const auto&, const auto& on) {
    const auto found = m.events().find(awaited);
    if (!found) {
      return fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtStreamWaitEvent: event ", text_of(awaited),
                  " does not exist");
    }
    return on->push([found, number = found->expected(), most = m.wait_limit()](stream& s, std::string& why) {
      if (!found->wait(number, most, [&] { return s.is_aborted(); })) {
        why = "aclrtStreamWaitEvent: the event was not recorded in time";
        return ACL_ERROR_RT_WAIT_TIMEOUT;
      }
      s.wait_for(found->when().simulated);
      return ACL_SUCCESS;
    });
  });
}

aclError aclrtStreamAbort(aclrtStream handle) {
  return on_stream("aclrtStreamAbort", handle, [](machine&, const auto&, const auto& on) {
    on->abort();
    return ACL_SUCCESS;
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream handle, std::uint64_t mode) {
  return on_stream("aclrtSetStreamFailureMode", handle, [&](machine&, const auto&, const auto& on) {
    if (mode > ACL_STOP_ON_FAILURE)
      return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSetStreamFailureMode: mode is ", mode,
                  ", expected 0 or 1");
    on->stop_at_failure(mode == ACL_STOP_ON_FAILURE);
    return ACL_SUCCESS;
  });
}

aclError aclrtLaunchHostFunc(aclrtStream handle, aclrtHostFunc function, void* args) {
  if (function == nullptr) return null_argument("aclrtLaunchHostFunc", "fn");
  return on_stream("aclrtLaunchHostFunc", handle, [&](machine&, const auto&, const auto& on) {
    return on->push([=](stream&, std::string& why) {
      outcome own;
      running_function() = &own;
      function(args);
      running_function() = nullptr;
      why = std::move(own.why);
      return own.code;
    });
  });
}

aclError aclSimFailTask(aclError code, const char* why) {
  if (running_function() == nullptr)
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclSimFailTask: no function of a stream runs in this thread");
  if (why == nullptr) return null_argument("aclSimFailTask", "why");
  return guarded("aclSimFailTask", [&] {
    *running_function() = {code, why};
    return ACL_SUCCESS;
  });
}

aclError aclrtSetOpWaitTimeout(std::uint32_t timeout) {
  return on_machine("aclrtSetOpWaitTimeout", [&](machine& m) {
    m.set_wait_limit(timeout == 0 ? patience() : patience(std::chrono::seconds(timeout)));
    return ACL_SUCCESS;
  });
}

aclError aclrtSetOpExecuteTimeOut(std::uint32_t) {
  return on_machine("aclrtSetOpExecuteTimeOut", [](machine&) { return ACL_SUCCESS; });
}

}  // extern "C"
