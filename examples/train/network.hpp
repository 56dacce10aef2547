// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small convolutional network with hand-written derivatives. All sizes are known to the compiler. All
// parameters stand in one vector and all gradients in another, so that a single allreduce combines them.
//
//   28x28x1 -> convolution -> 28x28x16 -> pool -> 14x14x16
//           -> convolution -> 14x14x32 -> pool -> 7x7x32 -> dense -> 10
//
// Activations are stored channels last: [row][column][channel].

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace train {

/// A matrix inside somebody's memory: element (r, c) stands at data[r * row + c * column].
struct MatrixView {
  const float* data;
  std::size_t rows, columns;
  std::size_t row, column;

  float operator()(std::size_t r, std::size_t c) const { return data[r * row + c * column]; }
};

/// c += a * b, where b and c are dense with Columns columns. A piece of a row of c stays in registers while
/// its products are added up; a function of its own for each width, because then compilers vectorise it best.
template <std::size_t Columns>
[[gnu::noinline]] void multiply_add(float* c, MatrixView a, const float* b) {
  constexpr std::size_t width = Columns % 48 == 0 ? 48 : Columns;
  for (std::size_t column = 0; column < Columns; column += width) {
    for (std::size_t row = 0; row < a.rows; ++row) {
      std::array<float, width> sums{};
      for (std::size_t k = 0; k < a.columns; ++k) {
        const float factor = a(row, k);
        for (std::size_t j = 0; j < width; ++j) sums[j] += factor * b[k * Columns + column + j];
      }
      for (std::size_t j = 0; j < width; ++j) c[row * Columns + column + j] += sums[j];
    }
  }
}

/// A 3 x 3 convolution with a border of zeros: Side x Side x In -> Side x Side x Out.
template <std::size_t Side, std::size_t In, std::size_t Out>
class Convolution {
 public:
  static constexpr std::size_t pixels = Side * Side, inner = 9 * In;
  static constexpr std::size_t input_size = pixels * In, output_size = pixels * Out;
  static constexpr std::size_t parameter_count = Out * (inner + 1);  // Out x inner weights, then Out biases
  static constexpr std::size_t bias_count = Out;

  void forward(const float* parameters, const float* input, float* output) {
    gather(input);
    for (std::size_t k = 0; k < inner; ++k) {
      for (std::size_t o = 0; o < Out; ++o) transposed_[k * Out + o] = parameters[o * inner + k];
    }
    for (std::size_t p = 0; p < pixels; ++p) std::copy_n(parameters + Out * inner, Out, output + p * Out);
    multiply_add<Out>(output, {patches_.data(), pixels, inner, inner, 1}, transposed_.data());
  }

  /// Adds to `gradient`; writes the gradient of the last forward's input unless `input_gradient` is null.
  void backward(const float* parameters, const float* output_gradient, float* gradient,
                float* input_gradient) {
    multiply_add<inner>(gradient, {output_gradient, Out, pixels, 1, Out}, patches_.data());
    for (std::size_t p = 0; p < pixels; ++p) {
      for (std::size_t o = 0; o < Out; ++o) gradient[Out * inner + o] += output_gradient[p * Out + o];
    }
    if (!input_gradient) return;

    std::ranges::fill(patches_, 0.0F);
    multiply_add<inner>(patches_.data(), {output_gradient, pixels, Out, Out, 1}, parameters);
    scatter(input_gradient);
  }

 private:
  /// Calls f(patch offset, input offset) for the In channels of each of the nine neighbours of each pixel.
  template <class F>
  static void for_each_neighbour(F f) {
    for (std::size_t p = 0; p < pixels; ++p) {
      for (std::size_t n = 0; n < 9; ++n) {
        const std::size_t row = p / Side + n / 3 - 1, column = p % Side + n % 3 - 1;  // -1 becomes huge
        if (row < Side && column < Side) f(p * inner + n * In, (row * Side + column) * In);
      }
    }
  }

  /// Lays the neighbourhood of each pixel out as one row, so that the convolution is a matrix product.
  void gather(const float* input) {
    std::ranges::fill(patches_, 0.0F);
    for_each_neighbour(
        [&](std::size_t patch, std::size_t in) { std::copy_n(input + in, In, &patches_[patch]); });
  }

  void scatter(float* input_gradient) const {
    std::fill_n(input_gradient, input_size, 0.0F);
    for_each_neighbour([&](std::size_t patch, std::size_t in) {
      for (std::size_t i = 0; i < In; ++i) input_gradient[in + i] += patches_[patch + i];
    });
  }

  std::vector<float> patches_ = std::vector<float>(pixels * inner);
  std::vector<float> transposed_ = std::vector<float>(Out * inner);
};

/// The largest of each 2 x 2 square, or 0 where none is positive: max pooling and ReLU in one.
template <std::size_t Side, std::size_t Channels>
class Pool {
 public:
  static constexpr std::size_t half = Side / 2, output_size = half * half * Channels;

  void forward(const float* input, float* output) {
    for_each_square([&](std::size_t out, const auto& square) {
      float largest = 0;
      std::uint8_t winner = none;
      for (std::uint8_t i = 0; i < 4; ++i) {
        winner = input[square[i]] > largest ? i : winner;
        largest = std::max(largest, input[square[i]]);
      }
      output[out] = largest;
      winner_[out] = winner;
    });
  }

  void backward(const float* output_gradient, float* input_gradient) const {
    for_each_square([&](std::size_t out, const auto& square) {
      for (std::uint8_t i = 0; i < 4; ++i) {
        input_gradient[square[i]] = winner_[out] == i ? output_gradient[out] : 0;
      }
    });
  }

 private:
  static constexpr std::uint8_t none = 4;

  /// Calls f(output offset, the four input offsets).
  template <class F>
  static void for_each_square(F f) {
    for (std::size_t p = 0; p < half * half; ++p) {
      const std::size_t corner = (p / half * 2 * Side + p % half * 2) * Channels;
      for (std::size_t c = 0; c < Channels; ++c) {
        const std::size_t in = corner + c;
        f(p * Channels + c, std::array{in, in + Channels, in + Side * Channels, in + (Side + 1) * Channels});
      }
    }
  }

  std::vector<std::uint8_t> winner_ = std::vector<std::uint8_t>(output_size);
};

/// A fully connected layer: In -> Out. The input gradient may overwrite the input.
template <std::size_t In, std::size_t Out>
struct Dense {
  static constexpr std::size_t parameter_count = (In + 1) * Out;  // In x Out weights, then Out biases
  static constexpr std::size_t bias_count = Out;

  static void forward(const float* parameters, const float* input, float* output) {
    std::copy_n(parameters + In * Out, Out, output);
    multiply_add<Out>(output, {input, 1, In, In, 1}, parameters);
  }

  static void backward(const float* parameters, const float* input, const float* output_gradient,
                       float* gradient, float* input_gradient) {
    for (std::size_t i = 0; i < In; ++i) {
      float sum = 0;
      for (std::size_t o = 0; o < Out; ++o) {
        sum += parameters[i * Out + o] * output_gradient[o];
        gradient[i * Out + o] += input[i] * output_gradient[o];
      }
      input_gradient[i] = sum;
    }
    for (std::size_t o = 0; o < Out; ++o) gradient[In * Out + o] += output_gradient[o];
  }
};

/// What a network made of some images: sums, so that the parts of several ranks can be added.
struct Score {
  double loss = 0;     ///< cross-entropy, summed over the images
  double correct = 0;  ///< images whose class was found
  double images = 0;

  Score& operator+=(const Score& other) {
    loss += other.loss, correct += other.correct, images += other.images;
    return *this;
  }
};

/// The network: for each image forward, score, backward. Gradients add up until somebody sets them to zero.
class Network {
 public:
  explicit Network(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    initialise<Conv1>(&parameters_[conv1_at], random);
    initialise<Conv2>(&parameters_[conv2_at], random);
    initialise<Output>(&parameters_[dense_at], random);
  }

  std::span<float> parameters() { return parameters_; }
  std::span<float> gradients() { return gradients_; }

  /// Classifies one image of 28 x 28 bytes: a value for each class, the largest wins.
  std::span<const float, 10> forward(std::span<const std::uint8_t, 784> image) {
    std::ranges::transform(image, input_.begin(),
                           [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255; });
    conv1_.forward(&parameters_[conv1_at], input_.data(), conv1_out_.data());
    pool1_.forward(conv1_out_.data(), pool1_out_.data());
    conv2_.forward(&parameters_[conv2_at], pool1_out_.data(), conv2_out_.data());
    pool2_.forward(conv2_out_.data(), pool2_out_.data());
    Output::forward(&parameters_[dense_at], pool2_out_.data(), output_.data());
    return output_;
  }

  /// Compares the result of the last forward with the right class: softmax and cross-entropy.
  Score score(std::uint8_t label) {
    const float largest = *std::ranges::max_element(output_);
    std::array<double, 10> probability;
    std::ranges::transform(output_, probability.begin(),
                           [&](float x) { return std::exp(double{x - largest}); });
    const double sum = std::accumulate(probability.begin(), probability.end(), 0.0);
    for (std::size_t i = 0; i < output_.size(); ++i) {
      output_gradient_[i] = static_cast<float>(probability[i] / sum - (i == label ? 1 : 0));
    }
    return {.loss = std::log(sum / probability[label]),
            .correct = output_[label] == largest ? 1.0 : 0.0,
            .images = 1};
  }

  /// Adds the gradients of the loss of the last score. Each activation is overwritten with its gradient.
  void backward() {
    Output::backward(&parameters_[dense_at], pool2_out_.data(), output_gradient_.data(),
                     &gradients_[dense_at], pool2_out_.data());
    pool2_.backward(pool2_out_.data(), conv2_out_.data());
    conv2_.backward(&parameters_[conv2_at], conv2_out_.data(), &gradients_[conv2_at], pool1_out_.data());
    pool1_.backward(pool1_out_.data(), conv1_out_.data());
    conv1_.backward(&parameters_[conv1_at], conv1_out_.data(), &gradients_[conv1_at], nullptr);
  }

 private:
  using Conv1 = Convolution<28, 1, 16>;
  using Pool1 = Pool<28, 16>;
  using Conv2 = Convolution<14, 16, 32>;
  using Pool2 = Pool<14, 32>;
  using Output = Dense<Pool2::output_size, 10>;
  static constexpr std::size_t conv1_at = 0;
  static constexpr std::size_t conv2_at = conv1_at + Conv1::parameter_count;
  static constexpr std::size_t dense_at = conv2_at + Conv2::parameter_count;
  static constexpr std::size_t parameter_count = dense_at + Output::parameter_count;

  /// Weights with a variance of 2 / fan-in (He et al., Delving deep into rectifiers, 2015); biases stay 0.
  template <class Layer>
  static void initialise(float* parameters, std::mt19937_64& random) {
    const std::size_t weights = Layer::parameter_count - Layer::bias_count,
                      inputs = weights / Layer::bias_count;
    std::normal_distribution<float> normal(0, std::sqrt(2 / static_cast<float>(inputs)));
    std::generate_n(parameters, weights, [&] { return normal(random); });
  }

  std::vector<float> parameters_ = std::vector<float>(parameter_count);
  std::vector<float> gradients_ = std::vector<float>(parameter_count);

  Conv1 conv1_;
  Pool1 pool1_;
  Conv2 conv2_;
  Pool2 pool2_;

  std::vector<float> input_ = std::vector<float>(784);
  std::vector<float> conv1_out_ = std::vector<float>(Conv1::output_size);
  std::vector<float> pool1_out_ = std::vector<float>(Pool1::output_size);
  std::vector<float> conv2_out_ = std::vector<float>(Conv2::output_size);
  std::vector<float> pool2_out_ = std::vector<float>(Pool2::output_size);
  std::array<float, 10> output_{};
  std::array<float, 10> output_gradient_{};
};

}  // namespace train
