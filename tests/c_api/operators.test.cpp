// SPDX-License-Identifier: Apache-2.0

// Each operator of the HCCL API, with every type and reduction, on 1 to 8 simulated devices.

#include "c_api/support.hpp"
#include "test.hpp"

#include <hccl/core/bfloat16.hpp>
#include <hccl/core/float16.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

using namespace c_api_test;

namespace {

/// A type of the API, as the tests calculate with it.
template <class Value, HcclDataType Type>
struct number {
  using value = Value;
  static constexpr HcclDataType type = Type;
};

/// Bytes that are only moved.
template <std::size_t Bytes>
struct blob {
  std::array<unsigned char, Bytes> bytes{};
  blob() = default;
  explicit blob(int seed) {
    for (std::size_t i = 0; i < Bytes; ++i)
      bytes[i] = static_cast<unsigned char>(seed + 7 * static_cast<int>(i));
  }
  bool operator==(const blob&) const = default;
};

#define NUMBERS                                                                                       \
  (number<std::int8_t, HCCL_DATA_TYPE_INT8>), (number<std::int16_t, HCCL_DATA_TYPE_INT16>),           \
      (number<std::int32_t, HCCL_DATA_TYPE_INT32>), (number<std::int64_t, HCCL_DATA_TYPE_INT64>),     \
      (number<std::uint8_t, HCCL_DATA_TYPE_UINT8>), (number<std::uint16_t, HCCL_DATA_TYPE_UINT16>),   \
      (number<std::uint32_t, HCCL_DATA_TYPE_UINT32>), (number<std::uint64_t, HCCL_DATA_TYPE_UINT64>), \
      (number<hccl::float16, HCCL_DATA_TYPE_FP16>), (number<hccl::bfloat16, HCCL_DATA_TYPE_BFP16>),   \
      (number<float, HCCL_DATA_TYPE_FP32>), (number<double, HCCL_DATA_TYPE_FP64>)

#define MOVED_ONLY                                                                          \
  (number<blob<16>, HCCL_DATA_TYPE_INT128>), (number<blob<1>, HCCL_DATA_TYPE_HIF8>),        \
      (number<blob<1>, HCCL_DATA_TYPE_FP8E4M3>), (number<blob<1>, HCCL_DATA_TYPE_FP8E5M2>), \
      (number<blob<1>, HCCL_DATA_TYPE_FP8E8M0>)

/// Small numbers, so that every result is exact in every type: 1 to 3 of rank `rank`.
template <class T>
std::vector<T> input_of(int rank, std::size_t count) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(1 + (rank + static_cast<int>(i % 5)) % (i % 2 == 0 ? 3 : 2)));
  return values;
}

int combined(HcclReduceOp op, int a, int b) {
  switch (op) {
    case HCCL_REDUCE_SUM:
      return a + b;
    case HCCL_REDUCE_PROD:
      return a * b;
    case HCCL_REDUCE_MAX:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}

/// The elements of all ranks, combined. Products of int8 and bfloat16 stay exact: at most 3 to the power of ranks, 8
/// of them in a type that wraps.
template <class T>
std::vector<T> combined_inputs(HcclReduceOp op, int ranks, std::size_t count) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    int all = static_cast<int>(input_of<T>(0, count)[i]);
    for (int rank = 1; rank < ranks; ++rank)
      all = combined(op, all, static_cast<int>(input_of<T>(rank, count)[i]));
    values.push_back(static_cast<T>(all));
  }
  return values;
}

template <class T>
std::vector<T> part(const std::vector<T>& all, std::size_t begin, std::size_t count) {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin),
          all.begin() + static_cast<std::ptrdiff_t>(begin + count)};
}

template <class T>
void expect_equal(const rank_on_device& own, const char* what, const std::vector<T>& is,
                  const std::vector<T>& expected) {
  if (is != expected)
    throw std::runtime_error("rank " + std::to_string(own.rank) + ": " + what + " is wrong");
}

constexpr std::size_t odd_count = 103;

}  // namespace

TEMPLATE_TEST_CASE("operators that reduce, with every type and reduction", "", NUMBERS) {
  using T = typename TestType::value;
  for (const int ranks : {1, 2, 3, 5, 8}) {
    const all_devices devices(ranks);
    devices.run([&](const rank_on_device& own) {
      const auto n = static_cast<std::size_t>(own.size);
      for (const HcclReduceOp op : {HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN}) {
        if (op == HCCL_REDUCE_PROD && own.size > 3 && sizeof(T) == 2 && !std::is_integral_v<T>)
          continue;  // would not be exact; integers wrap as int does
        const device_bytes in(input_of<T>(own.rank, odd_count)), out(odd_count * sizeof(T));
        succeeds(HcclAllReduce(in.get(), out.get(), odd_count, TestType::type, op, own.comm, own.stream));
        own.synchronize();
        const auto all = combined_inputs<T>(op, own.size, odd_count);
        expect_equal(own, "allreduce", out.values<T>(), all);

        const std::uint32_t root = static_cast<std::uint32_t>(own.size) - 1;
        const device_bytes at_root{std::vector<T>(odd_count)};
        succeeds(HcclReduce(in.get(), own.rank == own.size - 1 ? at_root.get() : nullptr, odd_count,
                            TestType::type, op, root, own.comm, own.stream));
        own.synchronize();
        expect_equal(own, "reduce", at_root.values<T>(),
                     own.rank == own.size - 1 ? all : std::vector<T>(odd_count));

        const std::size_t share = 13, self = static_cast<std::size_t>(own.rank);
        const device_bytes whole(input_of<T>(own.rank, share * n)), mine(share * sizeof(T));
        succeeds(HcclReduceScatter(whole.get(), mine.get(), share, TestType::type, op, own.comm, own.stream));
        own.synchronize();
        const auto whole_sum = combined_inputs<T>(op, own.size, share * n);
        expect_equal(own, "reduce_scatter", mine.values<T>(), part(whole_sum, share * self, share));

        // Shares of 1, 2, ... elements, with a gap of one element between them, the last first.
        std::vector<std::uint64_t> counts(n), offsets(n);
        std::uint64_t end = 0;
        for (std::size_t r = n; r-- > 0;) {
          counts[r] = r + 1;
          offsets[r] = end;
          end += counts[r] + 1;
        }
        const device_bytes gappy(input_of<T>(own.rank, end)), my_part((self + 1) * sizeof(T));
        succeeds(HcclReduceScatterV(gappy.get(), counts.data(), offsets.data(), my_part.get(), self + 1,
                                    TestType::type, op, own.comm, own.stream));
        own.synchronize();
        expect_equal(own, "reduce_scatterv", my_part.values<T>(),
                     part(combined_inputs<T>(op, own.size, end), offsets[self], self + 1));

        // In place.
        succeeds(HcclAllReduce(in.get(), in.get(), odd_count, TestType::type, op, own.comm, own.stream));
        own.synchronize();
        expect_equal(own, "allreduce in place", in.values<T>(), all);
      }
    });
  }
}

TEMPLATE_TEST_CASE("operators that move, with every type", "", NUMBERS, MOVED_ONLY) {
  using T = typename TestType::value;
  constexpr HcclDataType type = TestType::type;
  for (const int ranks : {1, 2, 3, 4, 7, 8}) {
    const all_devices devices(ranks);
    devices.run([&](const rank_on_device& own) {
      const auto n = static_cast<std::size_t>(own.size), self = static_cast<std::size_t>(own.rank);
      const int root = own.size / 2;
      const auto value = [](std::size_t from, std::size_t to, std::size_t i) {
        return static_cast<T>(static_cast<int>((from * 11 + to * 5 + i) % 100));
      };
      const auto list = [&](std::size_t from, std::size_t to, std::size_t count) {
        std::vector<T> values;
        for (std::size_t i = 0; i < count; ++i) values.push_back(value(from, to, i));
        return values;
      };
      const auto append = [](std::vector<T>& to, const std::vector<T>& more) {
        to.insert(to.end(), more.begin(), more.end());
      };
      const std::size_t share = 9;
      std::vector<T> of_all, to_all, from_all;
      for (std::size_t r = 0; r < n; ++r) {
        append(of_all, list(r, 0, share));
        append(to_all, list(self, r, share));
        append(from_all, list(r, self, share));
      }

      const device_bytes spread(list(self, 0, odd_count));
      succeeds(HcclBroadcast(spread.get(), odd_count, type, static_cast<std::uint32_t>(root), own.comm,
                             own.stream));
      own.synchronize();
      expect_equal(own, "broadcast", spread.values<T>(), list(static_cast<std::size_t>(root), 0, odd_count));

      const device_bytes mine(list(self, 0, share)), all(n * share * sizeof(T));
      succeeds(HcclAllGather(mine.get(), all.get(), share, type, own.comm, own.stream));
      own.synchronize();
      expect_equal(own, "allgather", all.values<T>(), of_all);

      const device_bytes scattered(share * sizeof(T));
      succeeds(HcclScatter(own.rank == root ? all.get() : nullptr, scattered.get(), share, type,
                           static_cast<std::uint32_t>(root), own.comm, own.stream));
      own.synchronize();
      expect_equal(own, "scatter", scattered.values<T>(), list(self, 0, share));

      const device_bytes sent(to_all), arrived(n * share * sizeof(T));
      succeeds(HcclAlltoAll(sent.get(), share, type, arrived.get(), share, type, own.comm, own.stream));
      own.synchronize();
      expect_equal(own, "alltoall", arrived.values<T>(), from_all);

      // Rank r has r elements; a gap of two behind each share stays as it was.
      std::vector<std::uint64_t> counts(n), offsets(n);
      std::uint64_t end = 0;
      std::vector<T> expected;
      for (std::size_t r = 0; r < n; ++r) {
        counts[r] = r;
        offsets[r] = end;
        end += r + 2;
        append(expected, list(r, 0, r));
        append(expected, {static_cast<T>(77), static_cast<T>(77)});
      }
      const device_bytes own_part(list(self, 0, self)), gathered(std::vector<T>(end, static_cast<T>(77)));
      succeeds(HcclAllGatherV(own_part.get(), self, gathered.get(), counts.data(), offsets.data(), type,
                              own.comm, own.stream));
      own.synchronize();
      expect_equal(own, "allgatherv", gathered.values<T>(), expected);

      // Rank i sends (i + 2 j) % 4 elements to rank j.
      const auto sends = [](std::size_t i, std::size_t j) { return (i + 2 * j) % 4; };
      std::vector<std::uint64_t> matrix, out_counts(n), in_counts(n), out_offsets(n), in_offsets(n);
      std::vector<T> to_send, to_arrive;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) matrix.push_back(sends(i, j));
        out_counts[i] = sends(self, i);
        in_counts[i] = sends(i, self);
        out_offsets[i] = to_send.size();
        in_offsets[i] = to_arrive.size();
        append(to_send, list(self, i, out_counts[i]));
        append(to_arrive, list(i, self, in_counts[i]));
      }
      const device_bytes uneven(to_send), from_v(to_arrive.size() * sizeof(T)),
          from_vc(to_arrive.size() * sizeof(T));
      succeeds(HcclAlltoAllV(uneven.get(), out_counts.data(), out_offsets.data(), type, from_v.get(),
                             in_counts.data(), in_offsets.data(), type, own.comm, own.stream));
      succeeds(HcclAlltoAllVC(uneven.get(), matrix.data(), type, from_vc.get(), type, own.comm, own.stream));
      own.synchronize();
      expect_equal(own, "alltoallv", from_v.values<T>(), to_arrive);
      expect_equal(own, "alltoallvc", from_vc.values<T>(), to_arrive);

      // Round the ring, all at once, and one after the other.
      const auto next = static_cast<std::uint32_t>((own.rank + 1) % own.size);
      const auto before = static_cast<std::uint32_t>((own.rank + own.size - 1) % own.size);
      const device_bytes from_left(share * sizeof(T));
      std::array<HcclSendRecvItem, 2> items{
          {{HCCL_SEND, mine.get(), share, type, next}, {HCCL_RECV, from_left.get(), share, type, before}}};
      succeeds(HcclBatchSendRecv(items.data(), 2, own.comm, own.stream));
      own.synchronize();
      expect_equal(own, "batch_send_recv", from_left.values<T>(), list(before, 0, share));
      if (own.size > 1) {
        const device_bytes received(share * sizeof(T));
        const auto send = [&] { succeeds(HcclSend(mine.get(), share, type, next, own.comm, own.stream)); };
        if (own.rank == 0) send();
        succeeds(HcclRecv(received.get(), share, type, before, own.comm, own.stream));
        if (own.rank != 0) send();
        own.synchronize();
        expect_equal(own, "send and recv", received.values<T>(), list(before, 0, share));
      }
      succeeds(HcclBarrier(own.comm, own.stream));
      own.synchronize();
    });
  }
}
