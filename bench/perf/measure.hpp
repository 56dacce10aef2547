// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is measured, and how: the same for hccl and for the libraries that it is compared with.
//
// Before each round the input is written anew, and all ranks meet at a barrier. A time is that of the slowest rank, from
// the barrier to the return of its call; a second one goes on until each rank has read its output. Bytes and bandwidths
// are those of nccl-tests: `bytes` is the whole vector (of allgather the output, of reduce_scatter and alltoall the
// input), algbw = bytes / time, busbw = algbw times the share that the busiest link has to carry.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace perf {

struct options {
  std::vector<std::string> collectives{"allreduce"};
  std::size_t min_bytes = 8;
  std::size_t max_bytes = std::size_t{32} << 20;
  std::size_t factor = 2;     // from one size to the next
  std::size_t increment = 0;  // instead, if not 0
  int rounds = 0;             // 0: by size
  int warm_up = 5;
  bool check = true;
  std::string type = "float";
  std::string op = "sum";
  int root = 0;
  std::string place = "both";  // in, out or both
  std::string buffers = "private";
  std::string algorithm = "auto";
  std::string transport = "shm";
  int ranks = 0;  // 0: those of the launcher, or 2
  bool csv = false;
  bool json = false;
  std::string probe;  // a file through which ranks 0 and 1 measure how far apart their cores are
};

/// Reads the options of the command line; prints what is wrong with them, or the help, and ends the program.
options read_options(int argc, char** argv);

/// One call that is measured.
struct point {
  std::string collective;
  std::size_t bytes;
  std::size_t count;  // elements of the whole vector
  bool in_place;
};

/// The calls of one point on this rank.
struct trial {
  std::function<void(int round)> fill;  // writes the input
  std::function<void()> call;
  std::function<void()> read;                   // reads the output
  std::function<std::size_t(int round)> wrong;  // counts elements of the output that are wrong
};

/// A library as the measurement sees it, on one rank.
struct library {
  std::string name;  // with its version
  std::string transport;
  std::string algorithm;
  int rank;
  int size;
  std::size_t element_bytes;
  std::function<void()> barrier;
  std::function<void(std::vector<double>&)> max;  // over all ranks
  std::function<trial(const point&)> prepare;     // without `call` if it does not offer that
};

/// Measures all points. Rank 0 prints them; returns how many elements were wrong there.
std::size_t measure(const options& chosen, const library& measured);

}  // namespace perf
