// Benchmark of the PNG encoder on GPU 0: batches of images of a folder, from pixels on the device
// to IDAT chunks in pinned memory. Prints a table to stderr and one JSON array to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "compute/cuda/codecs/png_encoder.hpp"
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

struct PngBenchArgs {
  std::string folder;
  std::vector<int> counts{64, 512, 2048};
  int repeats = 20;
};

/// A batch of `count` images, taken again and again.
class Benchmark {
 public:
  Benchmark(const std::vector<Image>& images, int count, int repeats)
      : images_(images), count_(count), repeats_(repeats) {
    std::vector<std::byte> samples;
    for (int i = 0; i < count; ++i) {
      const Image& image = images[std::size_t(i) % images.size()];
      batch_.add(image.shape(), std::int64_t(samples.size()));
      samples.insert(samples.end(), image.data(), image.data() + image.bytes());
      samples.resize(round_up<std::size_t>(samples.size(), 16));
    }
    capacity_ = samples.size();
    samples_.emplace(samples);
  }

  nlohmann::json run() {
    const Spread all = milliseconds(repeats_, [&] {
      encoder_.encode(samples_->get(), batch_, capacity_, stream_.get());
      ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    });
    std::size_t bytes = 0;
    for (int i = 0; i < count_; ++i) bytes += encoder_.chunks(std::size_t(i)).size();
    const Spread compress = compress_alone();
    std::size_t next = 0;
    const Spread cpu = milliseconds(repeats_, [&] {
      codec::codec_for(ImageFormat::png).encode(images_[next++ % images_.size()], {});
    });
    std::fprintf(
        stderr,
        "%6d images: %8.3f ms (%.3f to %.3f), %9.0f images/s, compression alone %.3f ms; %.1f %% "
        "of the bytes; a core %.0f images/s\n",
        count_, all.median, all.min, all.max, 1e3 * count_ / all.median, compress.median,
        100. * double(bytes) / double(capacity_), 1e3 / cpu.median);
    return {{"images", count_},
            {"pixel_bytes", capacity_},
            {"chunk_bytes", bytes},
            {"ms", json_of(all)},
            {"images_per_s", 1e3 * count_ / all.median},
            {"compress_ms", json_of(compress)},
            {"cpu_ms_per_image", json_of(cpu)}};
  }

 private:
  Spread compress_alone() {
    const auto pieces = batch_.pieces();
    const DeviceArray<PngImage> images({batch_.images().begin(), batch_.images().end()});
    const DeviceArray<PngPiece> device_pieces({pieces.begin(), pieces.end()});
    const DeviceArray<std::uint8_t> filtered(batch_.filtered_bytes()), blocks(batch_.block_bytes());
    const DeviceArray<PngBlock> results(pieces.size());
    return milliseconds(repeats_, [&] {
      compress_png_pieces(samples_->get(), images.get(), device_pieces.get(), int(pieces.size()),
                          filtered.get(), blocks.get(), results.get(), stream_.get());
      ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    });
  }

  const std::vector<Image>& images_;
  int count_, repeats_;
  PngBatch batch_;
  std::size_t capacity_;
  std::optional<DeviceArray<std::byte>> samples_;
  PngEncoder encoder_;
  const Stream stream_ =
      ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
};

nlohmann::json run(const PngBenchArgs& args) {
  const std::vector<Image> images = bench::read_images(args.folder);
  nlohmann::json results = nlohmann::json::array();
  for (const int count : args.counts)
    results.push_back(Benchmark(images, count, args.repeats).run());
  return results;
}

}  // namespace
}  // namespace eckart::compute::cuda

int main(int argc, char** argv) {
  eckart::compute::cuda::PngBenchArgs args;
  CLI::App app("Encoding PNGs on GPU 0", "png_bench");
  app.add_option("folder", args.folder, "Folder of images")->required();
  app.add_option("--counts", args.counts, "Images of a batch")
      ->delimiter(',')
      ->check(CLI::Range(1, 65535));
  app.add_option("--repeats", args.repeats, "Batches per measurement")->check(CLI::Range(1, 10000));
  CLI11_PARSE(app, argc, argv);
  return eckart::compute::cuda::bench::print_result(
      "png_bench", [&] { return eckart::compute::cuda::run(args); });
}
