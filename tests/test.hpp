// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that includes Catch2, version 2 or 3: TEST_CASE, TEMPLATE_TEST_CASE, SECTION, GENERATE,
// CHECK, REQUIRE, INFO.

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#else
#include <catch2/catch.hpp>
#endif
