// SPDX-License-Identifier: Apache-2.0

#include "dataset.hpp"
#include "test.hpp"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace {

/// A data set in a folder of its own: pixel i of image n is (n + i) % 256, the class of image n is n % 10.
class Folder {
 public:
  explicit Folder(std::uint32_t count = 12) {
    std::string pattern = (std::filesystem::temp_directory_path() / "hccl-dataset-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    images = header({0x803, count, 28, 28});
    labels = header({0x801, count});
    for (std::uint32_t n = 0; n < count; ++n) {
      for (std::uint32_t i = 0; i < 784; ++i) images += static_cast<char>((n + i) % 256);
      labels += static_cast<char>(n % 10);
    }
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }
  std::string images, labels;

  void write(bool zipped = false) const {
    for (const auto& [name, content] :
         {std::pair("train-images-idx3-ubyte", images), {"train-labels-idx1-ubyte", labels}}) {
      const auto file = (path_ / name).string();
      if (zipped) {
        const auto out = gzopen((file + ".gz").c_str(), "wb");
        gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
        gzclose(out);
      } else {
        std::ofstream(file, std::ios::binary) << content;
      }
    }
  }

  /// What reading the files says; "" when it succeeds.
  std::string error() const {
    try {
      train::read_dataset(path_, "train");
      return "";
    } catch (const train::DatasetError& error) {
      return error.what();
    }
  }

 private:
  static std::string header(std::initializer_list<std::uint32_t> words) {
    std::string bytes;
    for (std::uint32_t word : words) {
      for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(word >> shift & 255);
    }
    return bytes;
  }

  std::filesystem::path path_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a data set is read, zipped or not") {
  Folder folder;
  folder.write(GENERATE(false, true));
  const auto data = train::read_dataset(folder.path(), "train");
  REQUIRE(data.size() == 12);
  CHECK(data.labels[11] == 1);
  CHECK(data.image(11)[0] == 11);
  CHECK(data.image(11)[783] == (11 + 783) % 256);
}

TEST_CASE("a bad data set is an error that names the file and what was expected") {
  Folder folder;
  std::string file = "train-images-idx3-ubyte", expected;
  SECTION("missing") {
    CHECK(contains(folder.error(), "expected train-images-idx3-ubyte or train-images-idx3-ubyte.gz"));
    return;
  }
  SECTION("damaged gzip file") {
    folder.write(true);
    std::filesystem::resize_file(folder.path() / "train-images-idx3-ubyte.gz", 100);
    CHECK(contains(folder.error(), "train-images-idx3-ubyte.gz: expected a whole gzip file"));
    return;
  }
  SECTION("wrong magic number") {
    folder.images[3] = 1;
    expected = "expected the magic number 0x803, found 0x801";
  }
  SECTION("empty") {
    folder.images.clear();
    expected = "expected a size in bytes of at least 16, found 0";
  }
  SECTION("truncated") {
    folder.images.pop_back();
    expected = "expected a size in bytes of 9424, found 9423";
  }
  SECTION("too long") {
    folder.images += 'x';
    expected = "expected a size in bytes of 9424, found 9425";
  }
  SECTION("count beyond the memory of any machine") {
    folder.images.replace(4, 4, "\xff\xff\xff\xff");
    expected = "found 9424";
  }
  SECTION("images of another size") {
    folder.images[11] = 27;
    expected = "expected items of side 28, found 27";
  }
  SECTION("fewer labels than images") {
    folder.labels[7] = 11;
    folder.labels.pop_back();
    file = "train-labels-idx1-ubyte";
    expected = "expected 12 labels, one for each image, found 11";
  }
  SECTION("a label that is no class") {
    folder.labels.back() = 10;
    file = "train-labels-idx1-ubyte";
    expected = "expected classes below 10, found 10 at item 11";
  }
  folder.write();
  CHECK(contains(folder.error(), (folder.path() / file).string() + ": "));
  INFO(folder.error());
  CHECK(contains(folder.error(), expected));
}
