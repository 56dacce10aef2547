// SPDX-License-Identifier: Apache-2.0
#pragma once

// All reductions.

#include <hccl/reduction/accumulate_in.hpp>
#include <hccl/reduction/apply.hpp>
#include <hccl/reduction/arithmetic.hpp>
#include <hccl/reduction/average.hpp>
#include <hccl/reduction/bitwise.hpp>
#include <hccl/reduction/checked.hpp>
#include <hccl/reduction/concept.hpp>
#include <hccl/reduction/logical.hpp>
#include <hccl/reduction/min_loc.hpp>
#include <hccl/reduction/min_max.hpp>
#include <hccl/reduction/pre_mul_sum.hpp>
#include <hccl/reduction/saturating.hpp>
