// Benchmark of the PNG decoder on GPU 0: batches of images of a folder, from pinned memory to
// pixels on the device. Files of other formats are encoded as PNG first. Prints a table to stderr
// and one JSON array to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "tests/backend/cuda/bench/host_timer.hpp"
#include "tests/backend/cuda/bench/print_result.hpp"
#include "tests/backend/cuda/device_array.hpp"
#include "tests/backend/cuda/png_input_batch_fixture.hpp"

namespace eckart::compute::cuda {
namespace {

using bench::json_of;
using bench::milliseconds;
using bench::Spread;

using codec::png::EncodedImage;
using codec::png::Irregularity;
using Bytes = std::vector<std::byte>;

struct PngDecoderBenchArgs {
  std::string folder;
  std::vector<int> counts{85, 340, 680, 2048};
  int repeats = 20;
};

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Image decode_on_cpu(const Bytes& file) {
  return codec::detect_codec(std::span<const std::byte>(file)).decode(file, {}).pixels;
}

std::vector<Bytes> read_pngs(const std::string& folder) {
  const codec::Codec& png = codec::codec_for(ImageFormat::png);
  std::vector<Bytes> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    Bytes file = read_file(entry.path());
    const bool is_png = codec::detect_codec(std::span<const std::byte>(file)).format == png.format;
    files.push_back(is_png ? std::move(file) : png.encode(decode_on_cpu(file), {}));
  }
  if (files.empty()) throw std::invalid_argument("no images in " + folder);
  return files;
}

EncodedImage read_undecoded(const Bytes& file) {
  auto undecoded = codec::codec_for(ImageFormat::png).read_undecoded(file, {});
  if (!undecoded) throw std::invalid_argument("a PNG that only the CPU decodes");
  return std::get<EncodedImage>(std::move(undecoded->encoded));
}

class PngDecoderBenchmark {
 public:
  explicit PngDecoderBenchmark(const PngDecoderBenchArgs& args)
      : args_(args), files_(read_pngs(args.folder)) {
    cpu_ms_ = milliseconds(args.repeats, [&] { decode_on_cpu(next_file()); });
    read_ms_ = milliseconds(args.repeats, [&] { read_undecoded(next_file()); });
  }

  nlohmann::json measure(int count) {
    std::vector<EncodedImage> images;
    for (int i = 0; i < count; ++i)
      images.push_back(read_undecoded(files_[std::size_t(i) % files_.size()]));
    const PreparedPngs prepared(images);
    const PngInputBatch batch = prepared.plan();
    const DeviceArray<std::byte> pixels(prepared.pixels_bytes());
    const Spread ms = milliseconds(args_.repeats, [&] {
      decoder_.decode(batch, prepared.streams(), pixels.get(), stream_.get());
      ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    });
    const int equal = count_equal(prepared, pixels.copy_to_host());
    const auto [inflate_ms, unfilter_ms] = kernel_times(prepared, batch);
    std::fprintf(stderr,
                 "%6d images: %8.3f ms (%.3f to %.3f; inflate %.3f, unfilter %.3f), %9.0f "
                 "images/s; libdeflate %.0f images/s on a core; reading the stream %.1f us an "
                 "image; %d equal\n",
                 count, ms.median, ms.min, ms.max, inflate_ms.median, unfilter_ms.median,
                 1e3 * count / ms.median, 1e3 / cpu_ms_.median, 1e3 * read_ms_.median, equal);
    return {{"images", count},
            {"stream_bytes", prepared.stream_bytes()},
            {"pixels_bytes", prepared.pixels_bytes()},
            {"device_bytes", png_decoder_bytes(batch)},
            {"ms", json_of(ms)},
            {"inflate_ms", json_of(inflate_ms)},
            {"unfilter_ms", json_of(unfilter_ms)},
            {"images_per_s", 1e3 * count / ms.median},
            {"cpu_ms_per_image", json_of(cpu_ms_)},
            {"read_ms_per_image", json_of(read_ms_)},
            {"equal_images", equal}};
  }

 private:
  const Bytes& next_file() { return files_[next_++ % files_.size()]; }

  /// Each kernel alone.
  std::pair<Spread, Spread> kernel_times(const PreparedPngs& prepared, const PngInputBatch& batch) {
    const DeviceArray<PngInputImage> images(batch.images);
    const DeviceArray<std::byte> words(
        {prepared.streams(), prepared.streams() + batch.stream_bytes});
    const DeviceArray<std::uint8_t> rows(batch.row_bytes), pixels(prepared.pixels_bytes());
    const DeviceArray<Irregularity> irregularity(batch.images.size());
    const DevicePngInputs pngs{.images = images.get(),
                               .count = int(batch.images.size()),
                               .words = reinterpret_cast<const std::uint32_t*>(words.get()),
                               .rows = rows.get(),
                               .pixels = pixels.get(),
                               .irregularity = irregularity.get()};
    const auto time = [&](auto launch) {
      return milliseconds(args_.repeats, [&] {
        launch(pngs, stream_.get());
        ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
      });
    };
    const Spread inflate_ms = time(inflate_pngs);
    return {inflate_ms, time(unfilter_pngs)};
  }

  /// How many different files have the pixels of the CPU.
  int count_equal(const PreparedPngs& prepared, const std::vector<std::byte>& found) const {
    int equal = 0;
    for (std::size_t i = 0; i < std::min(prepared.inputs().size(), files_.size()); ++i) {
      const Image expected = decode_on_cpu(files_[i]);
      equal += decoder_.irregularities()[i] == Irregularity::none &&
               std::memcmp(&found[prepared.inputs()[i].pixels_offset], expected.data(),
                           expected.bytes()) == 0;
    }
    return equal;
  }

  const PngDecoderBenchArgs args_;
  const std::vector<Bytes> files_;
  std::size_t next_ = 0;
  Spread cpu_ms_{}, read_ms_{};
  PngDecoder decoder_;
  const Stream stream_ =
      ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
};

nlohmann::json run(const PngDecoderBenchArgs& args) {
  PngDecoderBenchmark benchmark(args);
  nlohmann::json results = nlohmann::json::array();
  for (const int count : args.counts) results.push_back(benchmark.measure(count));
  return results;
}

}  // namespace
}  // namespace eckart::compute::cuda

int main(int argc, char** argv) {
  eckart::compute::cuda::PngDecoderBenchArgs args;
  CLI::App app("Decoding PNGs on GPU 0", "png_decoder_bench");
  app.add_option("folder", args.folder, "Folder of images")->required();
  app.add_option("--counts", args.counts, "Images of a batch")
      ->delimiter(',')
      ->check(CLI::Range(1, 65535));
  app.add_option("--repeats", args.repeats, "Batches per measurement")->check(CLI::Range(1, 10000));
  CLI11_PARSE(app, argc, argv);
  return eckart::compute::cuda::bench::print_result(
      "png_decoder_bench", [&] { return eckart::compute::cuda::run(args); });
}
