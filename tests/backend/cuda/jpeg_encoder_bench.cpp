// Benchmark of the JPEG encoder on GPU 0: batches of images of a folder, from pixels on the device
// to data in pinned memory. Prints a table to stderr and one JSON array to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "codec/jpeg/encoder.hpp"
#include "codec/jpeg/standard_tables.hpp"
#include "compute/cuda/codecs/jpeg_encoder.hpp"
#include "core/round_up.hpp"
#include "tests/backend/cuda/bench/host_timer.hpp"
#include "tests/backend/cuda/bench/print_result.hpp"
#include "tests/backend/cuda/bench/read_images.hpp"
#include "tests/backend/cuda/device_array.hpp"

namespace eckart::compute::cuda {
namespace {

using bench::json_of;
using bench::milliseconds;
using bench::Spread;

struct JpegEncoderBenchArgs {
  std::string folder;
  std::vector<int> counts{64, 512, 2048};
  int repeats = 20, quality = 95;
};

/// Photographs are subsampled as they usually are.
constexpr ChromaSubsampling kSubsampling{2, 2};

std::vector<std::byte> encode_on_cpu(const Image& image, int quality) {
  return codec::codec_for(ImageFormat::jpeg)
      .encode(image, {.jpeg_quality = quality, .jpeg_subsampling = JpegSubsampling::k420});
}

/// A batch of `count` images, taken again and again.
class JpegEncoderBenchmark {
 public:
  JpegEncoderBenchmark(const std::vector<Image>& images, int count,
                       const JpegEncoderBenchArgs& args)
      : images_(images), count_(count), args_(args) {
    std::vector<std::byte> samples;
    for (int i = 0; i < count; ++i) {
      const Image& image = images[std::size_t(i) % images.size()];
      const auto at = std::int64_t(samples.size());
      batch_.add(codec::jpeg::encoding_layout(image.shape(), kSubsampling).value(), at, at);
      samples.insert(samples.end(), image.data(), image.data() + image.bytes());
      samples.resize(round_up<std::size_t>(samples.size(), 16));
    }
    capacity_ = samples.size();
    samples_.emplace(samples);
  }

  nlohmann::json run() {
    const Spread all = encode(/*is_compared=*/true), uncompared = encode(/*is_compared=*/false);
    std::size_t bytes = 0, next = 0;
    for (int i = 0; i < count_; ++i) bytes += encoder_.data(std::size_t(i)).size();
    const Spread cpu = milliseconds(
        args_.repeats, [&] { encode_on_cpu(images_[next++ % images_.size()], args_.quality); });
    const int equal = count_equal();
    std::fprintf(stderr,
                 "%6d images: %8.3f ms (%.3f to %.3f), %9.0f images/s; without comparison %.3f ms; "
                 "%.1f %% of the bytes; a core %.0f images/s; %d equal\n",
                 count_, all.median, all.min, all.max, 1e3 * count_ / all.median, uncompared.median,
                 100. * double(bytes) / double(capacity_), 1e3 / cpu.median, equal);
    return {{"images", count_},
            {"pixel_bytes", capacity_},
            {"data_bytes", bytes},
            {"ms", json_of(all)},
            {"images_per_s", 1e3 * count_ / all.median},
            {"uncompared_ms", json_of(uncompared)},
            {"cpu_ms_per_image", json_of(cpu)},
            {"equal_images", equal}};
  }

 private:
  Spread encode(bool is_compared) {
    return milliseconds(args_.repeats, [&] {
      encoder_.encode(samples_->get(), is_compared ? samples_->get() : nullptr, batch_, tables_,
                      capacity_, stream_.get());
      ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    });
  }

  /// How many different images have the data of libjpeg, which end the file but for its marker.
  int count_equal() const {
    int equal = 0;
    for (std::size_t i = 0; i < std::min(std::size_t(count_), images_.size()); ++i) {
      const std::vector<std::byte> file = encode_on_cpu(images_[i], args_.quality);
      const std::span<const std::byte> data = encoder_.data(i);
      const auto in_file = std::span(file).first(file.size() - 2);
      equal += !data.empty() && data.size() < in_file.size() &&
               std::ranges::equal(in_file.last(data.size()), data);
    }
    return equal;
  }

  const std::vector<Image>& images_;
  const int count_;
  const JpegEncoderBenchArgs args_;
  JpegOutputBatch batch_;
  std::size_t capacity_;
  std::optional<DeviceArray<std::byte>> samples_;
  const codec::jpeg::EncodingTables tables_ =
      build_encoding_tables(codec::jpeg::standard_tables(args_.quality, 3));
  JpegEncoder encoder_;
  const Stream stream_ =
      ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
};

nlohmann::json run(const JpegEncoderBenchArgs& args) {
  const std::vector<Image> images = bench::read_images(args.folder);
  nlohmann::json results = nlohmann::json::array();
  for (const int count : args.counts)
    results.push_back(JpegEncoderBenchmark(images, count, args).run());
  return results;
}

}  // namespace
}  // namespace eckart::compute::cuda

int main(int argc, char** argv) {
  eckart::compute::cuda::JpegEncoderBenchArgs args;
  CLI::App app("Encoding JPEGs on GPU 0", "jpeg_encoder_bench");
  app.add_option("folder", args.folder, "Folder of images")->required();
  app.add_option("--counts", args.counts, "Images of a batch")
      ->delimiter(',')
      ->check(CLI::Range(1, 65535));
  app.add_option("--repeats", args.repeats, "Batches per measurement")->check(CLI::Range(1, 10000));
  app.add_option("--quality", args.quality, "Of the files")->check(CLI::Range(1, 100));
  CLI11_PARSE(app, argc, argv);
  return eckart::compute::cuda::bench::print_result(
      "jpeg_encoder_bench", [&] { return eckart::compute::cuda::run(args); });
}
