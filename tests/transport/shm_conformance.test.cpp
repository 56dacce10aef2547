// SPDX-License-Identifier: Apache-2.0

#include "test.hpp"
#include "transport/connected.hpp"
#include "transport_conformance.hpp"

#include <hccl/transport/shm.hpp>

TEST_CASE("ShmTransport conforms") {
  hccl_test::check_conformance<hccl_test::Connected<hccl::ShmTransport>>();
}
