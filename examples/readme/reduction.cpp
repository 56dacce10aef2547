// SPDX-License-Identifier: Apache-2.0

#include <hccl/collectives.hpp>

#include <cmath>
#include <cstdio>

struct Affine {  // the map x -> slope * x + offset
  double slope, offset;
};

struct Compose {  // first f, then g
  static constexpr bool is_commutative = false;
  constexpr Affine operator()(Affine f, Affine g) const {
    return {f.slope * g.slope, f.offset * g.slope + g.offset};
  }
};

int main() {
  hccl::run_local(3, [](auto& comm) {
    float norm[] = {static_cast<float>(comm.rank() + 2)};
    hccl::allreduce(comm, norm, [](float a, float b) { return std::hypot(a, b); });

    Affine map[] = {{2.0, 1.0 * comm.rank()}};
    hccl::allreduce(comm, map, Compose{});
    if (comm.rank() == 0) std::printf("norm %g, map %g x + %g\n", norm[0], map[0].slope, map[0].offset);
  });
}
