// SPDX-License-Identifier: Apache-2.0

// AscendCL, simulated: events.

#include "call.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace {

using namespace acl_sim;

aclError create_event(std::string_view call, aclrtEvent* made) {
  if (made == nullptr) return null_argument(call, "event");
  return in_context(call, [&](machine& m, const auto&) {
    *made = m.events().add(std::make_shared<event>());
    return ACL_SUCCESS;
  });
}

aclError synchronize_event(std::string_view call, aclrtEvent handle, patience most) {
  return on_event(call, handle, [&](machine&, const std::shared_ptr<event>& e) {
    if (e->wait(e->expected(), most, [] { return false; })) return ACL_SUCCESS;
    return fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, call, ": the event was not recorded in ", most->count(),
                " ms");
  });
}

}  // namespace

extern "C" {

aclError aclrtCreateEvent(aclrtEvent* made) { return create_event("aclrtCreateEvent", made); }

aclError aclrtCreateEventWithFlag(aclrtEvent* made, std::uint32_t) {
  return create_event("aclrtCreateEventWithFlag", made);
}

aclError aclrtDestroyEvent(aclrtEvent gone) {
  return on_machine("aclrtDestroyEvent", [&](machine& m) {
    if (m.events().remove(gone)) return ACL_SUCCESS;
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtDestroyEvent: event ", text_of(gone), " does not exist");
  });
}

aclError aclrtRecordEvent(aclrtEvent handle, aclrtStream in) {
  return on_event("aclrtRecordEvent", handle, [&](machine&, const std::shared_ptr<event>& e) {
    return on_stream("aclrtRecordEvent", in, [&](machine&, const auto&, const auto& on) {
      return on->push([e, number = e->expect()](stream& s, std::string&) {
        e->record(number, s.now());
        return ACL_SUCCESS;
      });
    });
  });
}

aclError aclrtResetEvent(aclrtEvent handle, aclrtStream in) {
  return on_event("aclrtResetEvent", handle, [&](machine&, const std::shared_ptr<event>& e) {
    return on_stream("aclrtResetEvent", in, [&](machine&, const auto&, const auto& on) {
      return on->push([e](stream&, std::string&) {
        e->reset();
        return ACL_SUCCESS;
      });
    });
  });
}

aclError aclrtQueryEvent(aclrtEvent handle, aclrtEventStatus* status) {
  if (status == nullptr) return null_argument("aclrtQueryEvent", "status");
  return on_event("aclrtQueryEvent", handle, [&](machine&, const std::shared_ptr<event>& e) {
    *status = e->is_complete() ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return ACL_SUCCESS;
  });
}

aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus* status) {
  if (status == nullptr) return null_argument("aclrtQueryEventStatus", "status");
  return on_event("aclrtQueryEventStatus", handle, [&](machine&, const std::shared_ptr<event>& e) {
    *status = e->is_complete() ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent handle) {
  return synchronize_event("aclrtSynchronizeEvent", handle, {});
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent handle, std::int32_t timeout) {
  return synchronize_event("aclrtSynchronizeEventWithTimeout", handle, patience_of(timeout));
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent start, aclrtEvent end) {
  if (ms == nullptr) return null_argument("aclrtEventElapsedTime", "ms");
  const char* const call = "aclrtEventElapsedTime";
  return on_event(call, start, [&](machine& m, const std::shared_ptr<event>& from) {
    return on_event(call, end, [&](machine&, const std::shared_ptr<event>& to) {
      if (from->expected() == 0 || to->expected() == 0 || !from->is_complete() || !to->is_complete())
        return fail(ACL_ERROR_RT_PARAM_INVALID,
                    "aclrtEventElapsedTime: both events are to be recorded before");
      const auto simulated = (to->when().simulated - from->when().simulated) * 1e3;
      const std::chrono::duration<double, std::milli> measured = to->when().host - from->when().host;
      *ms = static_cast<float>(m.setup().has_simulated_clock ? simulated : measured.count());
      return ACL_SUCCESS;
    });
  });
}

}  // extern "C"
