// SPDX-License-Identifier: Apache-2.0
#pragma once

// The version of hccl; CMake reads it from here, so a copied include folder still knows its version.
#define HCCLPP_VERSION_MAJOR 0
#define HCCLPP_VERSION_MINOR 1
#define HCCLPP_VERSION_PATCH 0
#define HCCLPP_VERSION (HCCLPP_VERSION_MAJOR * 10000 + HCCLPP_VERSION_MINOR * 100 + HCCLPP_VERSION_PATCH)
