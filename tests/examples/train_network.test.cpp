// SPDX-License-Identifier: Apache-2.0

#include "network.hpp"
#include "test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using Image = std::array<std::uint8_t, 784>;

Image random_image(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Image image;
  for (auto& pixel : image) pixel = static_cast<std::uint8_t>(random() % 256);
  return image;
}

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (auto& value : values) value = static_cast<float>(random() % 2001) / 1000 - 1;
  return values;
}

double loss(train::Network& network, const Image& image, std::uint8_t label) {
  network.forward(image);
  return network.score(label).loss;
}

}  // namespace

TEST_CASE("a convolution is the sum over the neighbourhood") {
  constexpr int side = 4, in = 2, out = 3;
  train::Convolution<side, in, out> layer;
  const auto parameters = random_floats(layer.parameter_count, 1), input = random_floats(layer.input_size, 2);
  std::vector<float> output(layer.output_size);
  layer.forward(parameters.data(), input.data(), output.data());

  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      for (int o = 0; o < out; ++o) {
        double sum = parameters[static_cast<std::size_t>(out * 9 * in + o)];
        for (int n = 0; n < 9 * in; ++n) {
          const int r = row + n / in / 3 - 1, c = column + n / in % 3 - 1;
          if (r < 0 || r >= side || c < 0 || c >= side) continue;
          sum += static_cast<double>(parameters[static_cast<std::size_t>(o * 9 * in + n)]) *
                 static_cast<double>(input[static_cast<std::size_t>((r * side + c) * in + n % in)]);
        }
        INFO("row " << row << " column " << column << " channel " << o);
        CHECK(
            std::abs(static_cast<double>(output[static_cast<std::size_t>((row * side + column) * out + o)]) -
                     sum) < 1e-5);
      }
    }
  }
}

TEST_CASE("a pool keeps the largest of four, or nothing") {
  train::Pool<2, 2> pool;
  const std::vector<float> input{1, -1, 3, -2, 2, -3, 0, -4}, output_gradient{5, 7};
  std::vector<float> output(2), input_gradient(8);
  pool.forward(input.data(), output.data());
  pool.backward(output_gradient.data(), input_gradient.data());
  CHECK(output == std::vector<float>{3, 0});
  CHECK(input_gradient == std::vector<float>{0, 0, 5, 0, 0, 0, 0, 0});
}

TEST_CASE("the gradients of the network agree with differences of its loss") {
  train::Network network(3);
  const auto image = random_image(4);
  const std::uint8_t label = 7;
  loss(network, image, label);
  network.backward();

  // Some parameters of each layer: weights and biases. The steps are small against the distance to the next
  // bend of the loss.
  for (std::size_t i = 0; i < network.parameters().size(); i += i < 200 ? 7 : 331) {
    float& parameter = network.parameters()[i];
    const float step = 3e-4F, middle = parameter;
    parameter = middle + step;
    const double above = loss(network, image, label);
    parameter = middle - step;
    const double below = loss(network, image, label);
    parameter = middle;
    const double difference = (above - below) / (2 * static_cast<double>(step));
    const double gradient = static_cast<double>(network.gradients()[i]);
    INFO("parameter " << i << ": gradient " << gradient << ", difference " << difference);
    CHECK(std::abs(gradient - difference) < 5e-3 + 0.05 * std::abs(difference));
  }
}

TEST_CASE("gradients of several images add up") {
  train::Network together(5), alone(5);
  std::vector<float> sum(alone.gradients().size());
  for (std::uint8_t i = 0; i < 3; ++i) {
    std::ranges::fill(alone.gradients(), 0.0F);
    for (auto* network : {&together, &alone}) {
      loss(*network, random_image(i), i);
      network->backward();
    }
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += alone.gradients()[k];
  }
  float largest = 0;
  for (std::size_t k = 0; k < sum.size(); ++k)
    largest = std::max(largest, std::abs(sum[k] - together.gradients()[k]));
  CHECK(largest < 1e-4F);
}

TEST_CASE("a few steps of descent learn a few images") {
  train::Network network(6);
  auto epoch = [&] {
    train::Score score;
    std::ranges::fill(network.gradients(), 0.0F);
    for (std::uint8_t i = 0; i < 4; ++i) {
      network.forward(random_image(i));
      score += network.score(i);
      network.backward();
    }
    for (std::size_t k = 0; k < network.parameters().size(); ++k) {
      network.parameters()[k] -= 0.01F * network.gradients()[k];
    }
    return score;
  };
  const auto before = epoch();
  train::Score after;
  for (int i = 0; i < 40; ++i) after = epoch();
  CHECK(before.images == 4);
  CHECK(after.correct == 4);
  CHECK(after.loss < before.loss / 4);
}
