// SPDX-License-Identifier: Apache-2.0

#include "model.h"

#include <dataset.hpp>
#include <fmt/format.h>
#include <network.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>
#include <span>
#include <vector>

struct model {
  model(const char* folder, std::uint64_t seed)
      : training(train::read_dataset(folder, "train")),
        test(train::read_dataset(folder, "t10k")),
        network(seed),
        order(training.size()),
        random(seed) {
    std::iota(order.begin(), order.end(), 0U);
  }

  train::Dataset training, test;
  train::Network network;
  std::vector<std::uint32_t> order;
  std::mt19937_64 random;
};

extern "C" {

model* model_new(const char* folder, std::uint64_t seed) {
  try {
    return new model(folder, seed);
  } catch (const std::exception& e) {
    fmt::print(stderr, "train: {}\n", e.what());
    return nullptr;
  }
}

void model_free(model* m) { delete m; }

std::size_t model_size(const model* m) { return const_cast<model*>(m)->network.parameters().size(); }
float* model_weights(model* m) { return m->network.parameters().data(); }
float* model_gradients(model* m) { return m->network.gradients().data(); }

std::size_t model_images(const model* m) { return m->training.size(); }
void model_shuffle(model* m) { std::ranges::shuffle(m->order, m->random); }

void model_learn(model* m, std::size_t first, std::size_t count) {
  for (const std::uint32_t index : std::span(m->order).subspan(first, count)) {
    m->network.forward(m->training.image(index));
    m->network.score(m->training.labels[index]);
    m->network.backward();
  }
}

std::size_t model_test_images(const model* m) { return m->test.size(); }

std::size_t model_test(model* m, std::size_t first, std::size_t count) {
  train::Score score;
  for (std::size_t i = first; i < first + count; ++i) {
    m->network.forward(m->test.image(i));
    score += m->network.score(m->test.labels[i]);
  }
  return static_cast<std::size_t>(score.correct);
}

std::uint64_t model_fingerprint(const model* m) {
  std::uint64_t sum = 0xcbf29ce484222325U;  // FNV-1a
  for (const auto byte : std::as_bytes(const_cast<model*>(m)->network.parameters()))
    sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
  return sum;
}

}  // extern "C"
