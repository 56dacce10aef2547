// SPDX-License-Identifier: Apache-2.0
#pragma once

// Data-parallel training: every rank holds the whole network and learns from its share of each batch.

#include "dataset.hpp"
#include "network.hpp"
#include "progress.hpp"

#include <hccl/collectives.hpp>
#include <hccl/core/partition.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace train {

/// What the user chooses.
struct Settings {
  std::size_t epochs = 3;
  std::size_t batch = 128;      ///< images in a step, over all ranks
  float learning_rate = 0.05F;  ///< falls to zero towards the end
  float momentum = 0.9F;
  std::uint64_t seed = 1;
  std::string algorithm = "auto";  ///< of the allreduce
};

using Indices = std::span<const std::uint32_t>;

/// This rank's share of `images`; the shares of two ranks differ by one image at most.
template <class Net>
Indices share_of(Indices images, const hccl::communicator<Net>& comm) {
  const auto size = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  const auto [offset, count] = hccl::partition(images.size(), size, rank);
  return images.subspan(offset, count);
}

/// Trains the network. Every rank calls this with the same settings and images, and ends with the same
/// weights.
template <class Net>
void learn(hccl::communicator<Net>& comm, Network& network, const Settings& settings, const Dataset& images) {
  const auto weights = network.parameters(), gradients = network.gradients();
  hccl::broadcast(comm, weights, 0);  // all ranks begin with the weights of rank 0

  std::vector<float> velocity(weights.size());
  std::vector<std::uint32_t> order(images.size());
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(settings.seed);  // the same on all ranks: they agree on the order without talking

  for (std::size_t epoch = 0; epoch < settings.epochs; ++epoch) {
    std::ranges::shuffle(order, random);
    Progress progress(fmt::format("epoch {}/{}", epoch + 1, settings.epochs), images.size());
    Stopwatch communication;
    Score score;

    for (std::size_t done = 0; done < images.size();) {
      const std::size_t count = std::min(settings.batch, images.size() - done);
      const auto batch = Indices(order).subspan(done, count);

      // Forward and backward, over this rank's share of the batch.
      std::ranges::fill(gradients, 0.0F);
      for (auto index : share_of(batch, comm)) {
        network.forward(images.image(index));
        score += network.score(images.labels[index]);
        network.backward();
      }

      // One allreduce: every rank gets the gradients of the whole batch.
      communication.time([&] {
        hccl::with_algorithm<hccl::AllReduce>(settings.algorithm, [&]<class Algorithm>() {
          hccl::allreduce<float, hccl::Sum, Algorithm>(comm, gradients);
        });
      });

      // Update: the same numbers on every rank, so the weights stay the same.
      const auto trained = static_cast<float>(epoch * images.size() + done);
      const float rate =
          settings.learning_rate * (1 - trained / static_cast<float>(settings.epochs * images.size()));
      for (std::size_t i = 0; i < weights.size(); ++i) {
        velocity[i] = settings.momentum * velocity[i] - rate * gradients[i] / static_cast<float>(count);
        weights[i] += velocity[i];
      }

      done += count;
      if (comm.rank() == 0) progress.update(done, score, communication);
    }
  }
}

/// Scores the network on images that it has not learnt from; each rank takes its share.
template <class Net>
Score evaluate(hccl::communicator<Net>& comm, Network& network, const Dataset& images) {
  std::vector<std::uint32_t> order(images.size());
  std::iota(order.begin(), order.end(), 0U);
  Score score;
  for (auto index : share_of(order, comm)) {
    network.forward(images.image(index));
    score += network.score(images.labels[index]);
  }
  // A reduction of a user's type with a user's function.
  hccl::allreduce(comm, std::span(&score, 1), [](Score a, const Score& b) { return a += b; });
  return score;
}

/// A fingerprint of each rank's weights, in the order of ranks (FNV-1a, 64 bits, over the bytes).
template <class Net>
std::vector<std::uint64_t> fingerprints(hccl::communicator<Net>& comm, std::span<const float> weights) {
  std::uint64_t own = 0xcbf29ce484222325U;
  for (auto byte : std::as_bytes(weights))
    own = (own ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
  std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()));
  hccl::allgather(comm, std::span<const std::uint64_t>(&own, 1), all);
  return all;
}

}  // namespace train
