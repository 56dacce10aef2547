// SPDX-License-Identifier: Apache-2.0

// One program for each operator: OPERATION says which.

#include "operation.hpp"

int main(int argc, char** argv) { return hccl_test::run_program(hccl_test::OPERATION, argc, argv); }
