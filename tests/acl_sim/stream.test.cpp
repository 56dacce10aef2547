// SPDX-License-Identifier: Apache-2.0

#include "acl_sim/support.hpp"
#include "test.hpp"

#include <acl/acl.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using acl_test::failed, acl_test::in_process;

namespace {

/// A stream of device 0.
class Stream {
 public:
  Stream() {
    aclrtSetDevice(0);
    aclrtCreateStream(&handle_);
  }
  ~Stream() {
    aclrtDestroyStreamForce(handle_);
    aclrtResetDevice(0);
  }
  operator aclrtStream() const { return handle_; }

  /// Launches a function that may capture; it lives as long as this.
  aclError launch(std::function<void()> f) {
    return aclrtLaunchHostFunc(
        handle_, [](void* args) { (*static_cast<std::function<void()>*>(args))(); },
        &functions_.emplace_back(std::move(f)));
  }

 private:
  aclrtStream handle_ = nullptr;
  std::deque<std::function<void()>> functions_;
};

aclrtEvent make_event() {
  aclrtEvent made = nullptr;
  aclrtCreateEvent(&made);
  return made;
}

}  // namespace

TEST_CASE("a stream runs in order, while the program goes on") {
  Stream stream;
  std::promise<void> gate;
  std::vector<int> order;
  REQUIRE(stream.launch([&] { gate.get_future().wait(); }) == ACL_SUCCESS);
  for (int i = 0; i < 100; ++i) REQUIRE(stream.launch([&order, i] { order.push_back(i); }) == ACL_SUCCESS);
  aclrtStreamStatus status{};
  CHECK((aclrtStreamQuery(stream, &status) == ACL_SUCCESS && status == ACL_STREAM_STATUS_NOT_READY));
  CHECK(
      failed(aclrtSynchronizeStreamWithTimeout(stream, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "after 20 ms"));
  gate.set_value();
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK((aclrtStreamQuery(stream, &status) == ACL_SUCCESS && status == ACL_STREAM_STATUS_COMPLETE));
  REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("an event orders two streams") {
  Stream one, two;
  const aclrtEvent event = make_event();
  std::promise<void> gate;
  std::atomic<int> value = 0;
  int seen = -1;
  one.launch([&] {
    gate.get_future().wait();
    value = 7;
  });
  REQUIRE(aclrtRecordEvent(event, one) == ACL_SUCCESS);
  REQUIRE(aclrtStreamWaitEvent(two, event) == ACL_SUCCESS);
  two.launch([&] { seen = value; });
  aclrtEventRecordedStatus status{};
  CHECK((aclrtQueryEventStatus(event, &status) == ACL_SUCCESS &&
         status == ACL_EVENT_RECORDED_STATUS_NOT_READY));
  CHECK(failed(aclrtSynchronizeEventWithTimeout(event, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "in 10 ms"));
  gate.set_value();
  CHECK(aclrtSynchronizeStream(two) == ACL_SUCCESS);
  CHECK(seen == 7);
  CHECK(
      (aclrtQueryEventStatus(event, &status) == ACL_SUCCESS && status == ACL_EVENT_RECORDED_STATUS_COMPLETE));
  CHECK(aclrtDestroyEvent(event) == ACL_SUCCESS);
  CHECK(failed(aclrtRecordEvent(event, one), ACL_ERROR_RT_INVALID_HANDLE, "does not exist"));
}

TEST_CASE("events tell the time between them") {
  Stream stream;
  const aclrtEvent begin = make_event(), end = make_event();
  float ms = -1;
  CHECK(aclrtEventElapsedTime(&ms, begin, end) == ACL_ERROR_RT_PARAM_INVALID);
  aclrtRecordEvent(begin, stream);
  stream.launch([] { std::this_thread::sleep_for(30ms); });
  aclrtRecordEvent(end, stream);
  REQUIRE(aclrtSynchronizeEvent(end) == ACL_SUCCESS);
  CHECK((aclrtEventElapsedTime(&ms, begin, end) == ACL_SUCCESS && ms >= 30));
  aclrtDestroyEvent(begin);
  aclrtDestroyEvent(end);
}

TEST_CASE("the simulated clock tells what the links would take") {
  CHECK(in_process([] {
          ::setenv("ACL_SIM_CLOCK", "simulated", 1);
          aclrtSetDevice(0);
          const aclrtEvent begin = make_event(), end = make_event();
          constexpr std::size_t bytes = 27'200'000;  // a millisecond on the link between host and device
          acl_test::device_array<char> there((std::vector<char>(bytes)));
          void* pinned = nullptr;
          aclrtMallocHost(&pinned, bytes);
          aclrtRecordEvent(begin, nullptr);
          aclrtMemcpyAsync(pinned, bytes, there.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr);
          aclrtRecordEvent(end, nullptr);
          float ms = 0;
          return aclrtSynchronizeEvent(end) == ACL_SUCCESS &&
                 aclrtEventElapsedTime(&ms, begin, end) == ACL_SUCCESS && ms > 1.0f && ms < 1.02f;
        }) == 0);
}

TEST_CASE("what waits for an event that does not come ends at the limit") {
  Stream stream;
  Stream other;
  const aclrtEvent event = make_event();
  std::promise<void> gate;
  other.launch([&] { gate.get_future().wait(); });
  aclrtRecordEvent(event, other);
  REQUIRE(aclrtSetOpWaitTimeout(1) == ACL_SUCCESS);
  REQUIRE(aclrtStreamWaitEvent(stream, event) == ACL_SUCCESS);
  CHECK(failed(aclrtSynchronizeStream(stream), ACL_ERROR_RT_WAIT_TIMEOUT, "was not recorded in time"));
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);  // told once
  aclrtSetOpWaitTimeout(0);
  gate.set_value();
  CHECK(aclrtSynchronizeStream(other) == ACL_SUCCESS);
  aclrtDestroyEvent(event);
}

TEST_CASE("a stream that is aborted takes nothing more") {
  Stream stream;
  std::atomic<int> ran = 0;
  std::promise<void> gate;
  stream.launch([&] { gate.get_future().wait(); });
  stream.launch([&] { ++ran; });
  REQUIRE(aclrtStreamAbort(stream) == ACL_SUCCESS);
  gate.set_value();
  CHECK(failed(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_ABORT, "was aborted"));
  CHECK(failed(aclrtMemsetAsync(&ran, 4, 0, 4, stream), ACL_ERROR_RT_STREAM_ABORT, "was aborted"));
  CHECK(ran == 0);
}

TEST_CASE("a handle that is none is an error") {
  aclrtSetDevice(0);
  int nothing = 0;
  CHECK(failed(aclrtSynchronizeStream(&nothing), ACL_ERROR_RT_INVALID_HANDLE, "does not exist"));
  CHECK(aclrtDestroyStream(&nothing) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtDestroyEvent(&nothing) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtLaunchHostFunc(nullptr, nullptr, nullptr) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtSetStreamFailureMode(nullptr, 2) == ACL_ERROR_RT_PARAM_INVALID);
  aclrtResetDevice(0);
}
