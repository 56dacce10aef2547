// SPDX-License-Identifier: Apache-2.0

// Measures an operator on simulated or real devices, with the options and the columns of the vendor's hccl_test.

#include "operation.hpp"

#include <hccl/bootstrap/launch.hpp>

#include <CLI/CLI.hpp>
#include <c_api/data_type.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hccl_test {

namespace {

struct options {
  std::size_t min_bytes = std::size_t{64} << 20, max_bytes = std::size_t{64} << 20;
  std::optional<std::size_t> increment;
  int factor = 0;  // 0: additive steps
  HcclReduceOp op = HCCL_REDUCE_SUM;
  HcclDataType type = HCCL_DATA_TYPE_FP32;
  std::uint32_t root = 0;
  int iterations = 20, warm_up = 10;
  int check = 1;
  int devices = 0;  // 0: all
  bool json = false;
};

const std::vector<std::pair<std::string, HcclReduceOp>> ops{
    {"sum", HCCL_REDUCE_SUM}, {"prod", HCCL_REDUCE_PROD}, {"max", HCCL_REDUCE_MAX}, {"min", HCCL_REDUCE_MIN}};

const std::vector<std::pair<std::string, HcclDataType>> types{
    {"int8", HCCL_DATA_TYPE_INT8},       {"int16", HCCL_DATA_TYPE_INT16},
    {"int32", HCCL_DATA_TYPE_INT32},     {"fp16", HCCL_DATA_TYPE_FP16},
    {"fp32", HCCL_DATA_TYPE_FP32},       {"int64", HCCL_DATA_TYPE_INT64},
    {"uint64", HCCL_DATA_TYPE_UINT64},   {"uint8", HCCL_DATA_TYPE_UINT8},
    {"uint16", HCCL_DATA_TYPE_UINT16},   {"uint32", HCCL_DATA_TYPE_UINT32},
    {"fp64", HCCL_DATA_TYPE_FP64},       {"bfp16", HCCL_DATA_TYPE_BFP16},
    {"int128", HCCL_DATA_TYPE_INT128},   {"hif8", HCCL_DATA_TYPE_HIF8},
    {"fp8e4m3", HCCL_DATA_TYPE_FP8E4M3}, {"fp8e5m2", HCCL_DATA_TYPE_FP8E5M2},
    {"fp8e8m0", HCCL_DATA_TYPE_FP8E8M0}};

options parse(const operation& measured, int argc, char** argv) {
  options chosen;
  CLI::App app{fmt::format("Measures {}. Without a launcher the ranks are threads, one for each device.",
                           measured.name)};
  const CLI::AsSizeValue size(false);
  app.add_option("-b,--minbytes", chosen.min_bytes, "least size, with K, M or G")
      ->transform(size)
      ->capture_default_str();
  app.add_option("-e,--maxbytes", chosen.max_bytes, "largest size")->transform(size)->capture_default_str();
  app.add_option("-i,--stepbytes", chosen.increment, "increment between sizes, else a tenth of the range")
      ->transform(size);
  app.add_option("-f,--stepfactor", chosen.factor, "factor between sizes, instead")
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("-o,--op", chosen.op, "sum, prod, max or min")->transform(CLI::CheckedTransformer(ops));
  app.add_option("-d,--datatype", chosen.type, "element: fp32, int8, ...")
      ->transform(CLI::CheckedTransformer(types));
  app.add_option("-r,--root", chosen.root, "root")->capture_default_str();
  app.add_option("-n,--iters", chosen.iterations, "iterations")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("-w,--warmup_iters", chosen.warm_up, "iterations before")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("-c,--check", chosen.check, "0: no, 1: yes, 2: with the first wrong element")
      ->check(CLI::Range(0, 2))
      ->capture_default_str();
  app.add_option("-p,--npus", chosen.devices, "devices of this host that are used; 0: all")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--json", chosen.json, "print JSON");
  try {
    app.parse(argc, argv);
    if (chosen.min_bytes > chosen.max_bytes)
      throw CLI::ValidationError("--minbytes", "is more than --maxbytes");
    if (chosen.factor == 0 && chosen.increment == std::size_t{0} && chosen.min_bytes != chosen.max_bytes)
      throw CLI::ValidationError("--stepbytes", "0 never reaches --maxbytes");
    if (chosen.factor != 0 && chosen.min_bytes == 0)
      throw CLI::ValidationError("--minbytes", "0 has no multiples");
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  return chosen;
}

std::vector<std::size_t> sizes_of(const options& chosen) {
  std::vector<std::size_t> sizes;
  const std::size_t step =
      std::max<std::size_t>(chosen.increment.value_or((chosen.max_bytes - chosen.min_bytes) / 10), 1);
  for (std::size_t size = chosen.min_bytes; size <= chosen.max_bytes;) {
    sizes.push_back(size);
    if (chosen.factor != 0 && size > chosen.max_bytes / static_cast<std::size_t>(chosen.factor)) break;
    if (chosen.factor == 0 && step > chosen.max_bytes - size) break;
    size = chosen.factor != 0 ? size * static_cast<std::size_t>(chosen.factor) : size + step;
  }
  return sizes;
}

void expect(HcclResult result) {
  if (result != HCCL_SUCCESS) throw std::runtime_error(hcclGetLastError());
}
void expect(aclError result) {
  if (result == ACL_SUCCESS) return;
  const char* const why = aclGetRecentErrMsg();
  throw std::runtime_error(why == nullptr ? fmt::format("AscendCL has failed with {}", result) : why);
}

/// Device memory.
class buffer {
 public:
  explicit buffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) expect(aclrtMalloc(&memory_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() {
    if (memory_ != nullptr) aclrtFree(memory_);
  }

  void* get() const { return memory_; }
  void write(const std::vector<std::byte>& from) {
    if (bytes_ > 0) expect(aclrtMemcpy(memory_, bytes_, from.data(), from.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::vector<std::byte> read() const {
    std::vector<std::byte> found(bytes_);
    if (bytes_ > 0) expect(aclrtMemcpy(found.data(), bytes_, memory_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST));
    return found;
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
};

/// What rank `rank` puts in: 1 to 3.
int value_of(int rank, std::size_t index) { return 1 + (rank + static_cast<int>(index % 3)) % 3; }

double combine(HcclReduceOp op, double a, double b) {
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

/// The value that an element of the result has.
double expected(const call& c, origin from) {
  if (from.from != origin::all) return value_of(from.from, from.index);
  double all = value_of(0, from.index);
  for (int rank = 1; rank < c.size; ++rank) all = combine(c.op, all, value_of(rank, from.index));
  return all;
}

/// The largest whole number that the type has exactly, as all below it.
double largest_exact(HcclDataType type) {
  double largest = 0;
  c_api::with_number(type, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      largest = static_cast<double>(std::numeric_limits<T>::max());
    } else {
      largest = std::ldexp(1, std::same_as<T, hccl::bfloat16> ? 8 : std::same_as<T, hccl::float16> ? 11 : 24);
    }
  });
  return largest;
}

/// Whether every result is exact, so that it can be checked.
bool is_exact(const operation& measured, const call& c) {
  if (!measured.reduces) return true;
  double most = 3;
  for (int rank = 1; rank < c.size; ++rank) most = combine(c.op, most, 3);
  return most <= largest_exact(c.type);
}

void put(HcclDataType type, std::byte* to, double value) {
  const bool is_number = c_api::with_number(type, [&]<class T>(T) {
    const auto element = static_cast<T>(static_cast<float>(value));
    std::memcpy(to, &element, sizeof element);
  });
  if (!is_number) *to = static_cast<std::byte>(value);  // bytes of a type that is only moved
}

std::vector<std::byte> elements(HcclDataType type, std::size_t count, auto&& value) {
  const std::size_t width = c_api::size_of("type", type);
  std::vector<std::byte> all(count * width);
  for (std::size_t i = 0; i < count; ++i) put(type, all.data() + i * width, value(i));
  return all;
}

/// One row of the output.
struct row {
  std::size_t bytes = 0;
  double microseconds = 0;
  const char* check = "NULL";
};

/// Measures one operator on one rank.
class rank_test {
 public:
  rank_test(const operation& measured, const options& chosen, HcclComm comm, int rank, int size)
      : measured_(measured), chosen_(chosen), comm_(comm), rank_(rank), size_(size) {
    expect(aclrtCreateStream(&stream_));
    expect(aclrtCreateEvent(&begin_));
    expect(aclrtCreateEvent(&end_));
  }
  rank_test(const rank_test&) = delete;
  rank_test& operator=(const rank_test&) = delete;
  ~rank_test() {
    aclrtDestroyEvent(begin_);
    aclrtDestroyEvent(end_);
    aclrtDestroyStream(stream_);
  }

  row measure(std::size_t bytes) {
    const std::size_t width = c_api::size_of("datatype", chosen_.type),
                      ranks = static_cast<std::size_t>(size_);
    const std::size_t all = (bytes + width - 1) / width;
    const std::size_t block = measured_.has_shares ? (all + ranks - 1) / ranks : all;
    const auto elements_of = [&](std::size_t shares) {
      return block * (shares == operation::each ? ranks : shares);
    };
    const std::size_t sent = elements_of(measured_.send_shares),
                      received = elements_of(measured_.recv_shares);
    buffer send(sent * width), recv(received * width);
    std::vector<std::uint64_t> counts(ranks, block), offsets(ranks), matrix(ranks * ranks, block);
    for (std::size_t i = 0; i < ranks; ++i) offsets[i] = i * block;
    const call c{send.get(), recv.get(),    block,          chosen_.type,  chosen_.op, chosen_.root, rank_,
                 size_,      counts.data(), offsets.data(), matrix.data(), comm_,      stream_};
    send.write(elements(chosen_.type, sent, [&](std::size_t i) { return value_of(rank_, i); }));
    recv.write(elements(chosen_.type, received, [](std::size_t) { return 0; }));

    for (int i = 0; i < chosen_.warm_up; ++i) expect(measured_.run(c));
    expect(aclrtRecordEvent(begin_, stream_));
    for (int i = 0; i < chosen_.iterations; ++i) expect(measured_.run(c));
    expect(aclrtRecordEvent(end_, stream_));
    expect(aclrtSynchronizeStream(stream_));
    float milliseconds = 0;
    expect(aclrtEventElapsedTime(&milliseconds, begin_, end_));
    row measured{measured_.has_shares ? block * ranks * width : all * width,
                 static_cast<double>(milliseconds) * 1000 / chosen_.iterations};
    if (chosen_.check != 0 && is_exact(measured_, c))
      measured.check = all_agree(is_right(c, received, recv.read())) ? "success" : "failed";
    return measured;
  }

 private:
  bool is_right(const call& c, std::size_t count, const std::vector<std::byte>& found) const {
    const bool is_root = c.rank == static_cast<int>(c.root);
    if ((measured_.is_rooted_result && !is_root) || (&measured_ == &broadcast && is_root)) return true;
    const auto right =
        elements(c.type, count, [&](std::size_t i) { return expected(c, measured_.origin_of(c, i)); });
    if (found == right) return true;
    const auto place = std::mismatch(found.begin(), found.end(), right.begin()).first - found.begin();
    const auto element = static_cast<std::size_t>(place) / c_api::size_of("type", c.type);
    fmt::print(stderr, "rank {}: check failed{}\n", rank_,
               chosen_.check == 2 ? fmt::format(", first at element {}", element) : "");
    return false;
  }

  bool all_agree(bool own) const {
    const std::vector<std::byte> flag =
        elements(HCCL_DATA_TYPE_INT32, 1, [&](std::size_t) { return own ? 1 : 0; });
    buffer device(flag.size());
    device.write(flag);
    expect(
        HcclAllReduce(device.get(), device.get(), 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_MIN, comm_, stream_));
    expect(aclrtSynchronizeStream(stream_));
    return device.read() == elements(HCCL_DATA_TYPE_INT32, 1, [](std::size_t) { return 1; });
  }

  const operation& measured_;
  const options& chosen_;
  HcclComm comm_;
  int rank_, size_;
  aclrtStream stream_ = nullptr;
  aclrtEvent begin_ = nullptr, end_ = nullptr;
};

void print_head(const options& chosen) {
  fmt::print("the minbytes is {}, maxbytes is {}, iters is {}, warmup_iters is {}\n", chosen.min_bytes,
             chosen.max_bytes, chosen.iterations, chosen.warm_up);
  fmt::print("{:>15}|{:>14}|{:>20}|{:>14}|{:>20}\n", "data_size(Bytes):", "aveg_time(us):",
             "alg_bandwidth(GB/s):", "check_result:", "bus_bandwidth(GB/s):");
}

struct speeds {
  double algorithm, bus;  // GB/s
};

speeds speeds_of(const operation& measured, const row& r, int ranks) {
  const double algorithm = r.microseconds > 0 ? static_cast<double>(r.bytes) / r.microseconds / 1000 : 0;
  return {algorithm, algorithm * measured.bus_factor(ranks)};
}

/// Measures on this thread's device; `size` ranks take part. Rank 0 prints.
void run_rank(const operation& measured, const options& chosen, int device, int size) {
  expect(aclrtSetDevice(device));
  hcclComm_t comm = nullptr;
  expect(hcclCommInitAll(&comm, size, nullptr));
  int rank = 0;
  expect(hcclGetRankId(&rank));
  bool has_failed = false;
  {
    rank_test test(measured, chosen, comm, rank, size);
    nlohmann::json rows = nlohmann::json::array();
    if (rank == 0 && !chosen.json) print_head(chosen);
    for (const std::size_t bytes : sizes_of(chosen)) {
      const row r = test.measure(bytes);
      has_failed |= std::string_view(r.check) == "failed";
      if (rank != 0) continue;
      const speeds speed = speeds_of(measured, r, size);
      if (chosen.json) {
        rows.push_back({{"operator", measured.name},
                        {"ranks", size},
                        {"bytes", r.bytes},
                        {"time_us", r.microseconds},
                        {"algbw_gb_s", speed.algorithm},
                        {"busbw_gb_s", speed.bus},
                        {"check", r.check}});
      } else {
        fmt::print("{:>17}|{:>14.2f}|{:>20.5f}|{:>14}|{:>20.5f}\n", r.bytes, r.microseconds, speed.algorithm,
                   r.check, speed.bus);
        std::fflush(stdout);
      }
    }
    if (rank == 0 && chosen.json) fmt::print("{}\n", rows.dump(2));
  }
  expect(hcclCommDestroy(comm));
  expect(aclrtResetDevice(device));
  if (has_failed) throw std::runtime_error("a result is wrong");
}

}  // namespace

int run_program(const operation& measured, int argc, char** argv) try {
  const options chosen = parse(measured, argc, argv);
  if (measured.reduces && !c_api::with_number(chosen.type, [](auto) {}))
    throw std::runtime_error("--datatype: a type that is moved, but not reduced");
  expect(aclInit(nullptr));
  int devices = 0, rank = 0, size = 1;
  expect(aclrtGetDeviceCount(&devices));
  if (chosen.devices > devices)
    throw std::runtime_error(fmt::format("--npus {}: there are {} devices", chosen.devices, devices));
  if (chosen.devices > 0) devices = chosen.devices;
  expect(hcclGetRankId(&rank));  // of the launcher
  expect(hcclGetRankSize(&size));
  const bool is_launched = hccl::launched();
  const int ranks = is_launched ? size : devices;
  if (chosen.root >= static_cast<std::uint32_t>(ranks))
    throw std::runtime_error(fmt::format("--root {} of {} ranks", chosen.root, ranks));

  if (is_launched) {
    run_rank(measured, chosen, rank % devices, size);
  } else {
    std::mutex mutex;
    std::string failure;
    std::vector<std::jthread> threads;
    for (int device = 0; device < devices; ++device) {
      threads.emplace_back([&, device] {
        try {
          run_rank(measured, chosen, device, devices);
        } catch (const std::exception& e) {
          const std::lock_guard lock(mutex);
          if (failure.empty()) failure = e.what();
        }
      });
    }
    threads.clear();
    if (!failure.empty()) throw std::runtime_error(failure);
  }
  expect(aclFinalize());
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "{}_test: {}\n", measured.name, e.what());
  return 1;
}

}  // namespace hccl_test
