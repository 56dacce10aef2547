// SPDX-License-Identifier: Apache-2.0

#include "measure.hpp"

#include "bus_factor.hpp"
#include "probe.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

namespace perf {

namespace {

const std::vector<std::string> all_collectives{"allreduce", "reduce_scatter", "allgather", "broadcast",
                                               "reduce",    "alltoall",       "barrier"};

/// A line of the table.
struct row {
  point where;
  double min, median, p99, read;  // seconds
  double algbw, busbw;            // bytes a second
  std::size_t wrong;
  double probe;  // seconds
};

/// Few rounds of large vectors, many of small ones, and no more than take some second. `pace`: seconds of a round.
int rounds_for(std::size_t bytes, double pace) {
  constexpr double patience = 0.7;
  const double wanted = std::clamp(134e6 / static_cast<double>(std::max<std::size_t>(bytes, 1)), 11.0, 501.0);
  return static_cast<int>(std::clamp(patience / pace, 5.0, wanted));
}

std::string machine() {
  utsname system{};
  ::uname(&system);
  std::string processor = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      processor = line.substr(line.find(':') + 2);
      break;
    }
  }
  return fmt::format("{}, {} cores, {} {}", processor, std::thread::hardware_concurrency(), system.sysname,
                     system.release);
}

/// Measures one point; empty if the library does not offer it.
std::optional<row> measure_point(const options& chosen, const library& lib, const point& where,
                                 const probe& distance) {
  using clock = std::chrono::steady_clock;
  const auto seconds = [](clock::duration d) { return std::chrono::duration<double>(d).count(); };
  const trial t = lib.prepare(where);
  if (!t.call) return {};
  std::vector<double> times, times_and_reads;
  int round = 0;
  const auto run = [&](int rounds) {
    times.clear();
    times_and_reads.clear();
    for (const int end = round + rounds; round < end; ++round) {
      t.fill(round);
      lib.barrier();
      const auto begin = clock::now();
      t.call();
      const auto end_of_call = clock::now();
      t.read();
      times_and_reads.push_back(seconds(clock::now() - begin));
      times.push_back(seconds(end_of_call - begin));
    }
  };
  const double before = distance.seconds(lib.rank, lib.barrier);
  const auto start = clock::now();
  run(chosen.warm_up);
  std::vector<double> pace{seconds(clock::now() - start) / std::max(chosen.warm_up, 1)};
  lib.max(pace);
  const int rounds = chosen.rounds > 0 ? chosen.rounds : rounds_for(where.bytes, pace[0]);
  run(rounds);
  std::vector<double> faults{chosen.check ? static_cast<double>(t.wrong(round - 1)) : 0};
  const double after = distance.seconds(lib.rank, lib.barrier);
  lib.max(times);
  lib.max(times_and_reads);
  lib.max(faults);
  std::ranges::sort(times);
  std::ranges::sort(times_and_reads);
  const auto at = [&](const std::vector<double>& all, double share) {
    return all[static_cast<std::size_t>(share * static_cast<double>(rounds - 1))];
  };
  const double median = at(times, 0.5);
  const double algbw = static_cast<double>(where.bytes) / median;
  return row{where,
             times.front(),
             median,
             at(times, 0.99),
             at(times_and_reads, 0.5),
             algbw,
             algbw * bus_factor(where.collective, lib.size),
             static_cast<std::size_t>(faults[0]),
             (before + after) / 2};
}

/// The sizes that are measured: whole shares of whole elements.
std::vector<point> points_of(const options& chosen, const library& lib) {
  std::vector<point> points;
  const auto add = [&](const std::string& collective, std::size_t bytes, bool in_place) {
    std::size_t count = bytes / lib.element_bytes;
    if (collective != "allreduce" && collective != "broadcast" && collective != "reduce")
      count -= count % static_cast<std::size_t>(lib.size);
    if (count > 0 || collective == "barrier")
      points.push_back({collective, count * lib.element_bytes, count, in_place});
  };
  for (const auto& collective : chosen.collectives) {
    if (collective == "barrier") {
      add(collective, 0, false);
      continue;
    }
    for (std::size_t bytes = chosen.min_bytes;;) {
      if (chosen.place != "in") add(collective, bytes, false);
      if (chosen.place != "out" && collective != "alltoall") add(collective, bytes, true);
      const std::size_t step = chosen.increment > 0 ? chosen.increment : bytes * (chosen.factor - 1);
      if (step > chosen.max_bytes - bytes) break;
      bytes += step;
    }
  }
  return points;
}

constexpr double us = 1e6, gb = 1e-9;

/// So that sizes do not overflow; no machine measures more.
constexpr std::size_t most_bytes = std::size_t{1} << 40;

void print_table_row(const options& chosen, const row& r) {
  fmt::print(
      "{:>12} {:>12} {:<14} {:>8} {:>6} {:>4} {:>5} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>8.2f} "
      "{:>8.2f} {:>7}\n",
      r.where.bytes, r.where.count, r.where.collective, chosen.type, chosen.op, chosen.root,
      r.where.in_place ? "in" : "out", r.min * us, r.median * us, r.p99 * us, r.read * us, r.algbw * gb,
      r.busbw * gb, chosen.check ? fmt::format("{}", r.wrong) : "n/a");
}

void print_csv_row(const options& chosen, const library& lib, const row& r) {
  fmt::print("{},{},{},{},{},{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{},{:.3f}\n",
             lib.name, lib.transport, lib.algorithm, chosen.buffers, lib.size, r.where.collective,
             r.where.bytes, r.where.count, chosen.type, chosen.op, chosen.root,
             r.where.in_place ? "in" : "out", r.min * us, r.median * us, r.p99 * us, r.read * us,
             r.algbw * gb, r.busbw * gb, chosen.check ? fmt::format("{}", r.wrong) : "", r.probe * us);
}

nlohmann::json json_row(const options& chosen, const row& r) {
  return {{"collective", r.where.collective},
          {"bytes", r.where.bytes},
          {"count", r.where.count},
          {"type", chosen.type},
          {"redop", chosen.op},
          {"root", chosen.root},
          {"place", r.where.in_place ? "in" : "out"},
          {"min_us", r.min * us},
          {"median_us", r.median * us},
          {"p99_us", r.p99 * us},
          {"median_with_read_us", r.read * us},
          {"algbw_GBs", r.algbw * gb},
          {"busbw_GBs", r.busbw * gb},
          {"wrong", chosen.check ? nlohmann::json(r.wrong) : nlohmann::json()},
          {"probe_us", r.probe * us}};
}

}  // namespace

options read_options(int argc, char** argv) {
  options chosen;
  CLI::App app("Measures collectives. Times are those of the slowest rank, in microseconds.");
  app.add_option("--collective", chosen.collectives, "one or several: " + CLI::detail::join(all_collectives))
      ->delimiter(',')
      ->check(CLI::IsMember(all_collectives));
  const CLI::AsSizeValue size(false);
  app.add_option("-b,--minbytes", chosen.min_bytes, "least size")->transform(size)->capture_default_str();
  app.add_option("-e,--maxbytes", chosen.max_bytes, "largest size")->transform(size)->capture_default_str();
  app.add_option("-f,--stepfactor", chosen.factor, "factor between sizes")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  app.add_option("-i,--stepbytes", chosen.increment, "increment between sizes, instead")->transform(size);
  app.add_option("-n,--iters", chosen.rounds, "rounds; 0: by size")->check(CLI::NonNegativeNumber);
  app.add_option("-w,--warmup_iters", chosen.warm_up, "rounds before")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("-c,--check", chosen.check, "compare the last result: 0 or 1")->capture_default_str();
  app.add_option("-o,--op", chosen.op, "reduction")
      ->check(CLI::IsMember({"sum", "prod", "min", "max", "avg"}))
      ->capture_default_str();
  app.add_option("-d,--datatype", chosen.type, "element")
      ->check(CLI::IsMember({"int8", "int32", "int64", "half", "bfloat16", "float", "double"}))
      ->capture_default_str();
  app.add_option("-r,--root", chosen.root, "root")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--in-place", chosen.place, "in, out or both")
      ->check(CLI::IsMember({"in", "out", "both"}))
      ->capture_default_str();
  app.add_option("--buffers", chosen.buffers, "private, or shared between processes")
      ->check(CLI::IsMember({"private", "shared"}))
      ->capture_default_str();
  app.add_option("--algorithm", chosen.algorithm,
                 "auto, or the name of one; auto goes on where that does not offer the collective")
      ->capture_default_str();
  app.add_option("--transport", chosen.transport, "how ranks are connected")
      ->check(CLI::IsMember({"local", "shm", "tcp"}))
      ->capture_default_str();
  app.add_option("--ranks", chosen.ranks, "ranks that are started; 0: those of a launcher, or 2")
      ->check(CLI::NonNegativeNumber);
  auto* const csv = app.add_flag("--csv", chosen.csv, "print comma-separated values");
  app.add_flag("--json", chosen.json, "print JSON")->excludes(csv);
  app.add_option("--probe", chosen.probe,
                 "file of 4096 zero bytes, through which the distance of two cores is measured");
  try {
    app.parse(argc, argv);
    if (chosen.op != "sum" && chosen.type != "float")
      throw CLI::ValidationError("--op", "reductions other than sum are measured with float");
    if (chosen.min_bytes == 0 && chosen.increment == 0)
      throw CLI::ValidationError("--minbytes", "0 needs --stepbytes");
    if (chosen.min_bytes > chosen.max_bytes)
      throw CLI::ValidationError("--minbytes", "is more than --maxbytes");
    if (chosen.max_bytes > most_bytes) throw CLI::ValidationError("--maxbytes", "is more than 1 TiB");
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  return chosen;
}

std::size_t measure(const options& chosen, const library& lib) {
  const bool is_first = lib.rank == 0;
  const probe distance(chosen.probe, lib.size);
  nlohmann::json all = nlohmann::json::array();
  if (is_first && chosen.csv) {
    fmt::print(
        "library,transport,algorithm,buffers,ranks,collective,bytes,count,type,redop,root,place,min_us,"
        "median_us,"
        "p99_us,median_with_read_us,algbw_GBs,busbw_GBs,wrong,probe_us\n");
  } else if (is_first && !chosen.json) {
    fmt::print("# {}\n# {} over {}, algorithm {}, {} buffers, {} ranks\n", machine(), lib.name, lib.transport,
               lib.algorithm, chosen.buffers, lib.size);
    fmt::print(
        "#{:>11} {:>12} {:<14} {:>8} {:>6} {:>4} {:>5} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>7}\n",
        "bytes", "count", "collective", "type", "redop", "root", "place", "min us", "median", "p99",
        "with read", "algbw", "busbw", "#wrong");
  }
  std::size_t wrong = 0;
  const std::vector<point> points = points_of(chosen, lib);
  if (points.empty())
    throw std::invalid_argument(
        fmt::format("no size from {} to {} bytes holds an element of {} for each of {} ranks",
                    chosen.min_bytes, chosen.max_bytes, chosen.type, lib.size));
  for (const point& where : points) {
    const std::optional<row> r = measure_point(chosen, lib, where, distance);
    if (!r) continue;
    wrong += r->wrong;
    if (!is_first) continue;
    if (chosen.json) {
      all.push_back(json_row(chosen, *r));
    } else {
      chosen.csv ? print_csv_row(chosen, lib, *r) : print_table_row(chosen, *r);
      std::fflush(stdout);
    }
  }
  if (is_first && chosen.json) {
    fmt::print("{}\n", nlohmann::json{{"machine", machine()},
                                      {"library", lib.name},
                                      {"transport", lib.transport},
                                      {"algorithm", lib.algorithm},
                                      {"buffers", chosen.buffers},
                                      {"ranks", lib.size},
                                      {"points", all}}
                           .dump(2));
  }
  if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write the results");
  return wrong;
}

}  // namespace perf
