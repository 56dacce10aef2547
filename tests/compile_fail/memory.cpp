// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>
#include <hccl/memory/device_allocator.hpp>
#include <hccl/memory/device_buffer.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

/// Memory of some device.
struct Far {
  static constexpr hccl::memory_kind kind = hccl::memory_kind::device;
  static constexpr std::size_t alignment = 64;
  void* allocate(std::size_t bytes);
  void deallocate(void* memory, std::size_t bytes) noexcept;
  void copy(void* to, const void* from, std::size_t bytes, hccl::copy_direction direction);
};

/// A transport between such devices.
struct Devices {
  static constexpr std::string_view name = "devices";
  static constexpr hccl::link_model link{};
  using allocator = Far;
  int rank() const;
  int size() const;
  void send(int peer, hccl::pieces message);
  bool sending() const;
  void receive(int peer, hccl::sink& in);
  bool progress(hccl::deadline d);
  void abort(const hccl::error& why) noexcept;
  Devices channel(int id);
  hccl::copy_engine& copies();
};

void use(hccl::communicator<Devices>& npus, hccl::communicator<hccl::LocalTransport>& threads,
         hccl::device_buffer<float, Far>& far, std::vector<float>& near) {
#if defined(CONTROL)
  static_assert(hccl::check_device_allocator<Far>());
  hccl::allreduce(npus, far);
  hccl::allreduce(threads, far);
  hccl::allreduce(threads, near);
#elif defined(CASE_host_memory)  // expect: hccl: this transport moves memory of devices
  hccl::allreduce(npus, near);
#elif defined(CASE_host_message)  // expect: hccl: this transport moves memory of devices
  hccl::send(npus, near, 1);
#elif defined(CASE_two_memories)  // expect: hccl: input and output are of different memory
  hccl::allreduce(threads, near, far);
#elif defined(CASE_const_output)  // expect: hccl: the output buffer is const; it is written to
  hccl::allreduce(threads, static_cast<const hccl::device_buffer<float, Far>&>(far));
#elif defined(CASE_other_element)  // expect: hccl: the buffer holds elements of another type
  hccl::allreduce<double>(threads, far);
#elif defined(CASE_no_allocate)  // expect: hccl: an allocator of memory needs `void* allocate(std::size_t bytes)`
  struct NoAllocate : Far {
    int allocate(std::size_t bytes);
  };
  static_assert(hccl::check_device_allocator<NoAllocate>());
#elif defined(CASE_deallocate_throws)  // expect: hccl: an allocator of memory needs `void deallocate(void*, std::size_t bytes) noexcept`
  struct Throws : Far {
    void deallocate(void* memory, std::size_t bytes);
  };
  static_assert(hccl::check_device_allocator<Throws>());
#endif
}
