// SPDX-License-Identifier: Apache-2.0

// Groups of calls, parts of communicators, windows, and what can be set.

#include "c_api/support.hpp"
#include "test.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace c_api_test;

namespace {

int sum_of_ranks(HcclComm comm, int own, aclrtStream stream) {
  const device_bytes data(std::vector<int>{own});
  succeeds(HcclAllReduce(data.get(), data.get(), 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comm, stream));
  succeeds(aclrtSynchronizeStream(stream));
  return data.values<int>()[0];
}

}  // namespace

TEST_CASE("one thread makes the communicators of several devices in a group") {
  HcclRootInfo info;
  REQUIRE(HcclGetRootInfo(&info) == HCCL_SUCCESS);
  std::array<HcclComm, 3> comms{};
  REQUIRE(HcclGroupStart() == HCCL_SUCCESS);
  bool is_open = false;
  CHECK(HcclGroupStatusGet(&is_open) == HCCL_SUCCESS);
  CHECK(is_open);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    REQUIRE(aclrtSetDevice(static_cast<std::int32_t>(rank)) == ACL_SUCCESS);
    REQUIRE(HcclCommInitRootInfo(3, &info, rank, &comms[rank]) == HCCL_SUCCESS);
  }
  REQUIRE(HcclGroupEnd() == HCCL_SUCCESS);
  CHECK(HcclGroupStatusGet(&is_open) == HCCL_SUCCESS);
  CHECK_FALSE(is_open);

  // And launches the collectives of all.
  std::vector<device_bytes*> data;
  REQUIRE(HcclGroupStart() == HCCL_SUCCESS);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    REQUIRE(aclrtSetDevice(static_cast<std::int32_t>(rank)) == ACL_SUCCESS);
    data.push_back(new device_bytes(std::vector<int>{static_cast<int>(rank) + 1}));
    CHECK(HcclAllReduce(data[rank]->get(), data[rank]->get(), 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM,
                        comms[rank], nullptr) == HCCL_SUCCESS);
  }
  REQUIRE(HcclGroupEnd() == HCCL_SUCCESS);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    REQUIRE(aclrtSetDevice(static_cast<std::int32_t>(rank)) == ACL_SUCCESS);
    CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
    CHECK(data[rank]->values<int>()[0] == 6);
    delete data[rank];
    CHECK(HcclCommDestroy(comms[rank]) == HCCL_SUCCESS);
  }
}

TEST_CASE("messages of a group do not wait for each other") {
  const all_devices devices(3);
  devices.run([](const rank_on_device& own) {
    constexpr std::size_t count = 1 << 20;
    const device_bytes out(std::vector<int>(count, own.rank)), from_left(count * sizeof(int)),
        from_right(count * sizeof(int));
    const auto right = static_cast<std::uint32_t>((own.rank + 1) % 3),
               left = static_cast<std::uint32_t>((own.rank + 2) % 3);
    succeeds(HcclGroupStart());
    succeeds(HcclSend(out.get(), count, HCCL_DATA_TYPE_INT32, right, own.comm, own.stream));
    succeeds(HcclSend(out.get(), count, HCCL_DATA_TYPE_INT32, left, own.comm, own.stream));
    succeeds(HcclGroupStart());  // one level deeper
    succeeds(HcclRecv(from_left.get(), count, HCCL_DATA_TYPE_INT32, left, own.comm, own.stream));
    succeeds(HcclRecv(from_right.get(), count, HCCL_DATA_TYPE_INT32, right, own.comm, own.stream));
    succeeds(HcclGroupEnd());
    expect(HcclBarrier(own.comm, own.stream), HCCL_E_PARA, "this one began with others");
    expect(HcclBatchSendRecv(nullptr, 0, own.comm, own.stream), HCCL_E_PARA, "is not for a group");
    succeeds(HcclGroupEnd());
    own.synchronize();
    if (from_left.values<int>() != std::vector<int>(count, static_cast<int>(left)))
      throw std::runtime_error("left is wrong");
    if (from_right.values<int>() != std::vector<int>(count, static_cast<int>(right)))
      throw std::runtime_error("right is wrong");
    expect(HcclGroupEnd(), HCCL_E_PARA, "no group is open");
  });
}

TEST_CASE("a part of a communicator") {
  const all_devices devices(4);
  devices.run([](rank_on_device own) {
    std::vector<std::uint32_t> ids{3, 0, 2};
    HcclComm part = own.comm;
    if (own.rank == 1) {
      succeeds(HcclCreateSubCommConfig(&own.comm, 3, nullptr, 0xffffffff, 0, nullptr, &part));
      if (part != nullptr) throw std::runtime_error("who is no member got a communicator");
      expect(HcclBarrier(part, own.stream), HCCL_E_PTR, "comm is null");
    } else {
      const std::uint32_t place = own.rank == 3 ? 0 : own.rank == 0 ? 1 : 2;
      succeeds(HcclCreateSubCommConfig(&own.comm, 3, ids.data(), 7, place, nullptr, &part));
      std::uint32_t rank = 9;
      succeeds(HcclGetRankId(part, &rank));
      if (rank != place) throw std::runtime_error("the rank is wrong");
      std::string whole_name(COMM_NAME_MAX_LENGTH, '\0'), name(COMM_NAME_MAX_LENGTH, '\0');
      succeeds(HcclGetCommName(own.comm, whole_name.data()));
      succeeds(HcclGetCommName(part, name.data()));
      if (name.c_str() != whole_name.c_str() + std::string("_sub_7")) throw std::runtime_error(name);
      if (sum_of_ranks(part, own.rank, own.stream) != 5)
        throw std::runtime_error("the sum of the part is wrong");
      HcclComm nested = nullptr;
      expect(HcclCreateSubCommConfig(&part, 3, ids.data(), 8, place, nullptr, &nested), HCCL_E_NOT_SUPPORT,
             "is a part itself");
    }
    if (sum_of_ranks(own.comm, own.rank, own.stream) != 6)
      throw std::runtime_error("the sum of all is wrong");
    if (part != nullptr) succeeds(HcclCommDestroy(part));

    expect(HcclCreateSubCommConfig(nullptr, 3, ids.data(), 8, 0, nullptr, &part), HCCL_E_PTR, "comm is null");
    expect(HcclCreateSubCommConfig(&own.comm, 3, nullptr, 8, 0, nullptr, &part), HCCL_E_PTR,
           "rankIds is null");
    expect(HcclCreateSubCommConfig(&own.comm, 5, ids.data(), 8, 0, nullptr, &part), HCCL_E_PARA,
           "rankNum is 5");
    ids = {9, 0, 2};
    expect(HcclCreateSubCommConfig(&own.comm, 3, ids.data(), 8, 0, nullptr, &part), HCCL_E_PARA,
           "rankIds[0] is 9");
    ids = {0, 0, 2};
    expect(HcclCreateSubCommConfig(&own.comm, 3, ids.data(), 8, 0, nullptr, &part), HCCL_E_PARA,
           "in the list before");
    ids = {0, 1, 2, 3};
    expect(HcclCreateSubCommConfig(&own.comm, 4, ids.data(), 8, static_cast<std::uint32_t>(own.rank + 1) % 4,
                                   nullptr, &part),
           HCCL_E_PARA, "but this is rank");
  });
}

TEST_CASE("a suspended communicator refuses operators until it is resumed") {
  const all_devices devices(2);
  devices.run([](const rank_on_device& own) {
    std::string name(COMM_NAME_MAX_LENGTH, '\0');
    succeeds(HcclGetCommName(own.comm, name.data()));
    HcclCommStatus status = HCCL_COMM_STATUS_RESERVED;
    succeeds(HcclCommGetStatus(name.c_str(), &status));
    if (status != HCCL_COMM_STATUS_READY) throw std::runtime_error("not ready");
    succeeds(HcclCommSuspend(own.comm));
    succeeds(HcclCommGetStatus(name.c_str(), &status));
    if (status != HCCL_COMM_STATUS_SUSPENDING) throw std::runtime_error("not suspended");
    expect(HcclBarrier(own.comm, own.stream), HCCL_E_SUSPENDING, "the communicator is suspended");
    succeeds(HcclCommResume(own.comm));
    if (sum_of_ranks(own.comm, own.rank, own.stream) != 1) throw std::runtime_error("the sum is wrong");
    succeeds(HcclCommGetStatus("no such name", &status));
    if (status != HCCL_COMM_STATUS_INVALID) throw std::runtime_error("not invalid");
  });
}

TEST_CASE("a window is found by an address in it") {
  const all_devices devices(2);
  devices.run([](const rank_on_device& own) {
    const device_bytes memory(4096);
    auto* const begin = static_cast<std::byte*>(memory.get());
    HcclCommSymWindow window = nullptr, found = nullptr;
    std::size_t offset = 0;
    succeeds(HcclCommSymWinRegister(own.comm, begin, 4096, &window, 1));
    succeeds(HcclCommSymWinGet(own.comm, begin + 96, 4000, &found, &offset));
    if (found != window || offset != 96) throw std::runtime_error("another window, or another place");
    expect(HcclCommSymWinGet(own.comm, begin + 97, 4000, &found, &offset), HCCL_E_NOT_FOUND, "no window");
    expect(HcclCommSymWinRegister(own.comm, begin, 4096, &found, 0), HCCL_E_PARA, "flag is 0");
    expect(HcclCommSymWinRegister(own.comm, begin, own.rank == 0 ? 64 : 128, &found, 1), HCCL_E_PARA,
           own.rank == 0 ? "size is 64 on rank 0, but 128 on rank 1"
                         : "size is 128 on rank 1, but 64 on rank 0");
    succeeds(HcclCommSymWinDeregister(window));
    expect(HcclCommSymWinDeregister(window), HCCL_E_PARA, "no window");
    if (sum_of_ranks(own.comm, own.rank, own.stream) != 1) throw std::runtime_error("the sum is wrong");
  });
}

TEST_CASE("a setting of the process is kept") {
  HcclConfigValue value{2};
  CHECK(HcclSetConfig(HCCL_DETERMINISTIC, value) == HCCL_SUCCESS);
  value.value = 9;
  CHECK(HcclGetConfig(HCCL_DETERMINISTIC, &value) == HCCL_SUCCESS);
  CHECK(value.value == 2);
  value.value = 3;
  CHECK(failed(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_E_PARA, "configValue is 3, expected 0 to 2"));
  CHECK(failed(HcclGetConfig(HCCL_CONFIG_RESERVED, &value), HCCL_E_PARA, "config is 1"));
  CHECK(failed(HcclGetConfig(HCCL_DETERMINISTIC, nullptr), HCCL_E_PTR, "configValue is null"));
  value.value = 0;
  CHECK(HcclSetConfig(HCCL_DETERMINISTIC, value) == HCCL_SUCCESS);
}

TEST_CASE("all messages of a communicator in a group go into one stream") {
  const all_devices devices(2);
  devices.run([](const rank_on_device& own) {
    const device_bytes out(std::vector<int>{own.rank}), in(sizeof(int));
    const auto other = static_cast<std::uint32_t>(1 - own.rank);
    aclrtStream second = nullptr;
    succeeds(aclrtCreateStream(&second));
    succeeds(HcclGroupStart());
    succeeds(HcclSend(out.get(), 1, HCCL_DATA_TYPE_INT32, other, own.comm, own.stream));
    expect(HcclRecv(in.get(), 1, HCCL_DATA_TYPE_INT32, other, own.comm, second), HCCL_E_PARA,
           "go into one stream");
    succeeds(HcclRecv(in.get(), 1, HCCL_DATA_TYPE_INT32, other, own.comm, own.stream));
    succeeds(HcclGroupEnd());
    own.synchronize();
    if (in.values<int>()[0] != 1 - own.rank) throw std::runtime_error("the message is wrong");
    succeeds(aclrtDestroyStream(second));
  });
}

TEST_CASE("one thread makes parts of communicators in a group") {
  const all_devices devices(3);
  std::array<HcclComm, 3> parts{};
  std::array<std::uint32_t, 3> ids{0, 1, 2};
  REQUIRE(HcclGroupStart() == HCCL_SUCCESS);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    REQUIRE(aclrtSetDevice(static_cast<std::int32_t>(rank)) == ACL_SUCCESS);
    HcclComm whole = devices.comms()[rank];
    REQUIRE(HcclCreateSubCommConfig(&whole, 3, ids.data(), 1, rank, nullptr, &parts[rank]) == HCCL_SUCCESS);
  }
  REQUIRE(HcclGroupEnd() == HCCL_SUCCESS);
  for (HcclComm part : parts) CHECK(HcclCommDestroy(part) == HCCL_SUCCESS);
}
