// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads Fashion-MNIST (or MNIST): four files in the IDX format, gzipped or not. Needs zlib.

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace train {

inline constexpr std::size_t image_side = 28;
inline constexpr std::size_t image_size = image_side * image_side;
inline constexpr std::size_t classes = 10;

/// Images of 28 x 28 bytes, one behind the other, and the class of each.
struct Dataset {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  std::size_t size() const { return labels.size(); }
  std::span<const std::uint8_t, image_size> image(std::size_t index) const {
    return std::span(pixels).subspan(index * image_size).first<image_size>();
  }
};

/// A data set that cannot be used; the text names the file, what was expected and what was found.
struct DatasetError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

/// The file `name` in `folder`, or `name`.gz, whichever is there.
inline std::filesystem::path find_file(const std::filesystem::path& folder, std::string_view name) {
  for (auto suffix : {"", ".gz"}) {
    auto path = folder / name;
    path += suffix;
    if (std::filesystem::is_regular_file(path)) return path;
  }
  throw DatasetError(fmt::format(
      "{}: expected {} or {}.gz here, found neither (install dataset-fashion-mnist, or pass --data DIR)",
      folder.string(), name, name));
}

/// The whole content of a file, unpacked when it is gzipped.
inline std::vector<std::uint8_t> read_all(const std::filesystem::path& path) {
  auto close = [](gzFile file) { gzclose(file); };
  std::unique_ptr<gzFile_s, decltype(close)> file(gzopen(path.c_str(), "rbe"), close);
  if (!file) throw DatasetError(fmt::format("{}: {}", path.string(), std::strerror(errno)));

  std::vector<std::uint8_t> content;
  std::array<std::uint8_t, 1 << 16> chunk;
  int length = 0;
  while ((length = gzread(file.get(), chunk.data(), chunk.size())) > 0) {
    content.insert(content.end(), chunk.begin(), chunk.begin() + length);
  }
  int status = Z_OK;
  const char* reason = gzerror(file.get(), &status);
  if (status != Z_OK)
    throw DatasetError(fmt::format("{}: expected a whole gzip file: {}", path.string(), reason));
  return content;
}

/// The items of an IDX file of unsigned bytes, each of the given shape.
inline std::vector<std::uint8_t> read_idx(const std::filesystem::path& path,
                                          std::vector<std::uint32_t> shape) {
  auto content = read_all(path);
  auto fail = [&](std::string_view what, const auto& expected, const auto& found) {
    throw DatasetError(fmt::format("{}: expected {} {}, found {}", path.string(), what, expected, found));
  };
  auto word = [&](std::size_t index) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | content[4 * index + i];
    return value;
  };

  const std::size_t header_size = 4 * (2 + shape.size());
  if (content.size() < header_size) fail("a size in bytes of at least", header_size, content.size());
  const std::size_t magic = 0x801 + shape.size();  // unsigned bytes, and the number of dimensions
  if (word(0) != magic) fail("the magic number", fmt::format("{:#x}", magic), fmt::format("{:#x}", word(0)));
  std::size_t size = word(1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (word(2 + i) != shape[i]) fail("items of side", shape[i], word(2 + i));
    size *= shape[i];
  }
  if (content.size() != header_size + size) fail("a size in bytes of", header_size + size, content.size());
  content.erase(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(header_size));
  return content;
}

}  // namespace detail

/// Reads one half of the data set: `part` is "train" or "t10k". Throws DatasetError.
inline Dataset read_dataset(const std::filesystem::path& folder, std::string_view part) {
  const auto images = detail::find_file(folder, fmt::format("{}-images-idx3-ubyte", part));
  const auto labels = detail::find_file(folder, fmt::format("{}-labels-idx1-ubyte", part));
  Dataset data{detail::read_idx(images, {image_side, image_side}), detail::read_idx(labels, {})};
  if (data.pixels.size() != data.size() * image_size) {
    throw DatasetError(fmt::format("{}: expected {} labels, one for each image, found {}", labels.string(),
                                   data.pixels.size() / image_size, data.size()));
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.labels[i] >= classes) {
      throw DatasetError(fmt::format("{}: expected classes below {}, found {} at item {}", labels.string(),
                                     classes, data.labels[i], i));
    }
  }
  return data;
}

}  // namespace train
