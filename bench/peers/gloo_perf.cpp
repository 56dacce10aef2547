// SPDX-License-Identifier: Apache-2.0

// Measures Gloo the way hccl_perf measures hccl. Gloo has no transport in shared memory: the ranks, forked here, are
// connected by TCP over the loopback device.

#include "trial.hpp"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using Context = std::shared_ptr<gloo::Context>;

/// What is compared: the broadcast of Gloo is in place; it has no reduce_scatter of this form.
bool is_offered(const perf::point& where) {
  if (where.collective == "reduce_scatter") return false;
  return where.in_place == (where.collective == "broadcast") || where.collective == "allreduce";
}

void call(const Context& all, const perf::point& where, std::span<float> in, std::span<float> out, int root) {
  const std::string& collective = where.collective;
  using Sum = void (*)(void*, const void*, const void*, std::size_t);
  const Sum sum = &gloo::sum<float>;
  const auto with_buffers = [&](auto& o) -> auto& {
    o.setInput(in.data(), in.size());
    o.setOutput(out.data(), out.size());
    return o;
  };
  if (collective == "allreduce") {
    gloo::AllreduceOptions o(all);
    o.setReduceFunction(sum);
    gloo::allreduce(with_buffers(o));
  } else if (collective == "allgather") {
    gloo::AllgatherOptions o(all);
    gloo::allgather(with_buffers(o));
  } else if (collective == "reduce") {
    gloo::ReduceOptions o(all);
    o.setRoot(root);
    o.setReduceFunction(sum);
    gloo::reduce(with_buffers(o));
  } else if (collective == "alltoall") {
    gloo::AlltoallOptions o(all);
    gloo::alltoall(with_buffers(o));
  } else if (collective == "broadcast") {
    gloo::BroadcastOptions o(all);
    o.setOutput(out.data(), out.size());
    o.setRoot(root);
    gloo::broadcast(o);
  } else {
    gloo::BarrierOptions o(all);
    gloo::barrier(o);
  }
}

int run(const perf::options& chosen, const std::string& meeting, int rank, int size) {
  gloo::transport::tcp::attr where_to;
  where_to.hostname = "127.0.0.1";
  gloo::rendezvous::FileStore store(meeting);
  const auto all = std::make_shared<gloo::rendezvous::Context>(rank, size);
  auto device = gloo::transport::tcp::CreateDevice(where_to);
  all->connectFullMesh(store, device);
  const auto prepare = [&](const perf::point& where) -> perf::trial {
    if (!is_offered(where)) return {};
    const auto run_one = [&, where](std::span<float> in, std::span<float> out) {
      call(all, where, in, out, chosen.root);
    };
    return perf::make_sum(where, rank, size, chosen.root, run_one);
  };
  const auto barrier = [&] {
    gloo::BarrierOptions o(all);
    gloo::barrier(o);
  };
  const auto max = [&](std::vector<double>& values) {
    gloo::AllreduceOptions o(all);
    o.setOutput(values.data(), values.size());
    o.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::max<double>));
    gloo::allreduce(o);
  };
  return perf::measure(chosen, {"Gloo", "tcp", "own", rank, size, sizeof(float), barrier, max, prepare}) == 0
             ? 0
             : 1;
}

/// A folder that is gone at the end.
struct temporary_folder {
  std::string path = (std::filesystem::temp_directory_path() / "hccl_gloo_XXXXXX").string();
  temporary_folder() {
    if (::mkdtemp(path.data()) == nullptr) std::perror("mkdtemp"), std::exit(1);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path); }
};

}  // namespace

int main(int argc, char** argv) {
  const perf::options chosen = perf::read_options(argc, argv);
  const int size = chosen.ranks > 0 ? chosen.ranks : 2;
  const temporary_folder meeting;
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.push_back(::fork());
    if (ranks.back() != 0) continue;
    try {
      std::fflush(stdout);
      const int failed = run(chosen, meeting.path, rank, size);
      std::fflush(stdout);
      ::_exit(failed);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "gloo_perf: rank %d: %s\n", rank, e.what());
      ::_exit(1);
    }
  }
  bool failed = false;
  for (const pid_t rank : ranks) {
    int status = 0;
    ::waitpid(rank, &status, 0);
    failed |= status != 0;
  }
  return failed ? 1 : 0;
}
