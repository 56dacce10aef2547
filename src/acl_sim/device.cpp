// SPDX-License-Identifier: Apache-2.0

// AscendCL, simulated: devices, contexts, and the access of one device to another.

#include "call.hpp"

#include <memory>

namespace {

using namespace acl_sim;

aclError no_device(std::string_view call, std::int64_t id, const machine& m) {
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, call, ": there is no device ", id, "; this host has ",
              m.setup().devices, ", from 0 on (ACL_SIM_DEVICES)");
}

aclError synchronize_device(std::string_view call, patience most) {
  return in_context(call, [&](machine& m, const std::shared_ptr<context>& here) {
    aclError first = ACL_SUCCESS;
    const auto wait_for = [&](stream& s) {
      const aclError code = s.synchronize(most);
      if (first == ACL_SUCCESS) first = code;
    };
    for (const auto& c : m.contexts().all([&](const context& c) { return c.device == here->device; }))
      wait_for(c->default_stream);
    for (const auto& s :
         m.streams().all([&](const made_stream& s) { return s.owner->device == here->device; }))
      wait_for(s->work);
    return first;
  });
}

aclError reset_device(std::string_view call, std::int32_t id, bool all_users) {
  return on_machine(call, [&](machine& m) {
    return m.has_device(id) ? m.reset_device(call, id, all_users) : no_device(call, id, m);
  });
}

/// Sets whether the device of this thread may reach another.
aclError set_reach(std::string_view call, std::int32_t peer, bool may) {
  return in_context(call, [&](machine& m, const std::shared_ptr<context>& here) {
    if (!m.has_device(peer)) return no_device(call, peer, m);
    if (peer == here->device)
      return fail(ACL_ERROR_RT_PARAM_INVALID, call, ": device ", peer, " is the one that this thread is on");
    m.set_reach(here->device, peer, may);
    return ACL_SUCCESS;
  });
}

}  // namespace

extern "C" {

aclError aclrtSetDevice(std::int32_t id) {
  return on_machine("aclrtSetDevice", [&](machine& m) {
    if (!m.has_device(id)) return no_device("aclrtSetDevice", id, m);
    m.set_device(id);
    return ACL_SUCCESS;
  });
}

aclError aclrtResetDevice(std::int32_t id) { return reset_device("aclrtResetDevice", id, false); }

aclError aclrtResetDeviceForce(std::int32_t id) { return reset_device("aclrtResetDeviceForce", id, true); }

aclError aclrtGetDevice(std::int32_t* id) {
  if (id == nullptr) return null_argument("aclrtGetDevice", "deviceId");
  return in_context("aclrtGetDevice", [&](machine&, const std::shared_ptr<context>& here) {
    *id = here->device;
    return ACL_SUCCESS;
  });
}

aclError aclrtGetDeviceCount(std::uint32_t* count) {
  if (count == nullptr) return null_argument("aclrtGetDeviceCount", "count");
  return on_machine("aclrtGetDeviceCount", [&](machine& m) {
    *count = static_cast<std::uint32_t>(m.setup().devices);
    return ACL_SUCCESS;
  });
}

aclError aclrtGetRunMode(aclrtRunMode* mode) {
  if (mode == nullptr) return null_argument("aclrtGetRunMode", "runMode");
  *mode = ACL_HOST;
  return ACL_SUCCESS;
}

const char* aclrtGetSocName(void) {
  const char* name = nullptr;
  on_machine("aclrtGetSocName", [&](machine& m) {
    name = m.setup().system.soc.data();
    return ACL_SUCCESS;
  });
  return name;
}

aclError aclrtSynchronizeDevice(void) { return synchronize_device("aclrtSynchronizeDevice", {}); }

aclError aclrtSynchronizeDeviceWithTimeout(std::int32_t timeout) {
  return synchronize_device("aclrtSynchronizeDeviceWithTimeout", patience_of(timeout));
}

aclError aclrtCreateContext(aclrtContext* made, std::int32_t id) {
  if (made == nullptr) return null_argument("aclrtCreateContext", "context");
  return on_machine("aclrtCreateContext", [&](machine& m) {
    if (!m.has_device(id)) return no_device("aclrtCreateContext", id, m);
    *made = machine::current_handle() = m.contexts().add(std::make_shared<context>(id));
    return ACL_SUCCESS;
  });
}

aclError aclrtDestroyContext(aclrtContext gone) {
  return on_machine("aclrtDestroyContext", [&](machine& m) {
    if (!m.contexts().remove(gone))
      return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtDestroyContext: context ", text_of(gone),
                  " does not exist");
    return ACL_SUCCESS;
  });
}

aclError aclrtSetCurrentContext(aclrtContext chosen) {
  return on_machine("aclrtSetCurrentContext", [&](machine& m) {
    if (!m.contexts().find(chosen))
      return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetCurrentContext: context ", text_of(chosen),
                  " does not exist");
    machine::current_handle() = chosen;
    return ACL_SUCCESS;
  });
}

aclError aclrtGetCurrentContext(aclrtContext* found) {
  if (found == nullptr) return null_argument("aclrtGetCurrentContext", "context");
  return in_context("aclrtGetCurrentContext", [&](machine&, const std::shared_ptr<context>& here) {
    *found = here.get();
    return ACL_SUCCESS;
  });
}

aclError aclrtDeviceCanAccessPeer(std::int32_t* can, std::int32_t id, std::int32_t peer) {
  if (can == nullptr) return null_argument("aclrtDeviceCanAccessPeer", "canAccessPeer");
  return on_machine("aclrtDeviceCanAccessPeer", [&](machine& m) {
    for (const std::int32_t each : {id, peer}) {
      if (!m.has_device(each)) return no_device("aclrtDeviceCanAccessPeer", each, m);
    }
    *can = id == peer ? 0 : 1;
    return ACL_SUCCESS;
  });
}

aclError aclrtDeviceEnablePeerAccess(std::int32_t peer, std::uint32_t flags) {
  if (flags != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDeviceEnablePeerAccess: flags is ", flags, ", expected 0");
  }
  return set_reach("aclrtDeviceEnablePeerAccess", peer, true);
}

aclError aclrtDeviceDisablePeerAccess(std::int32_t peer) {
  return set_reach("aclrtDeviceDisablePeerAccess", peer, false);
}

aclError aclrtGetDevicesTopo(std::uint32_t one, std::uint32_t other, std::uint64_t* value) {
  if (value == nullptr) return null_argument("aclrtGetDevicesTopo", "value");
  return on_machine("aclrtGetDevicesTopo", [&](machine& m) {
    for (const std::uint32_t each : {one, other}) {
      if (!m.has_device(each)) return no_device("aclrtGetDevicesTopo", each, m);
    }
    *value =
        static_cast<std::uint64_t>(m.setup().system.between(static_cast<int>(one), static_cast<int>(other)));
    return ACL_SUCCESS;
  });
}

}  // extern "C"
