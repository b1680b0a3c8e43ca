// Benchmark of the JPEG decoder on GPU 0: batches of images of a folder, from pinned memory to
// pixels on the device. Files of other formats are encoded as JPEG first. Prints a table to stderr
// and one JSON array to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "tests/backend/cuda/bench/host_timer.hpp"
#include "tests/backend/cuda/bench/print_result.hpp"
#include "tests/backend/cuda/device_array.hpp"
#include "tests/backend/cuda/jpeg_batch_fixture.hpp"
#include "tests/unit/codec/make_jpeg.hpp"

namespace eckart::compute::cuda {
namespace {

using bench::json_of;
using bench::milliseconds;
using bench::Spread;

using codec::jpeg::Irregularity;
using test::Bytes;

struct JpegBenchArgs {
  std::string folder;
  std::vector<int> counts{512, 2048, 4096};
  int repeats = 20, quality = 95;
};

Image decode_on_cpu(const Bytes& file) {
  return codec::detect_codec(std::span<const std::byte>(file)).decode(file, {}).pixels;
}

/// Subsampled as photographs usually are.
std::vector<Bytes> read_jpegs(const JpegBenchArgs& args) {
  std::vector<Bytes> files;
  for (const auto& entry : std::filesystem::directory_iterator(args.folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    Bytes file = test::to_bytes(text);
    if (codec::detect_codec(std::span<const std::byte>(file)).format != ImageFormat::jpeg) {
      file = test::make_jpeg(decode_on_cpu(file),
                             {.chroma_cols = 2, .chroma_rows = 2, .quality = args.quality});
    }
    files.push_back(std::move(file));
  }
  if (files.empty()) throw std::invalid_argument("no images in " + args.folder);
  return files;
}

/// A batch of `count` files, taken again and again.
std::vector<Bytes> repeat(const std::vector<Bytes>& files, int count) {
  std::vector<Bytes> batch;
  for (int i = 0; i < count; ++i) batch.push_back(files[std::size_t(i) % files.size()]);
  return batch;
}

class JpegBenchmark {
 public:
  JpegBenchmark(const JpegBenchArgs& args, std::vector<Bytes> files)
      : args_(args), files_(std::move(files)) {
    cpu_ms_ = milliseconds(args.repeats, [&] { decode_on_cpu(files_[next_++ % files_.size()]); });
  }

  nlohmann::json measure(int count) {
    const std::vector<Bytes> files = repeat(files_, count);
    const PreparedJpegs prepared(files);
    const Spread prepare_ms = milliseconds(args_.repeats, [&] { prepare_one(); });
    const JpegBatch batch = prepared.plan();
    const Spread plan_ms = milliseconds(args_.repeats, [&] { prepared.plan(); });
    const DeviceArray<std::byte> pixels(prepared.pixels_bytes());
    const Spread ms = milliseconds(args_.repeats, [&] {
      decoder_.decode(batch, prepared.data(), pixels.get(), stream_.get());
      ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    });
    const int equal = count_equal(prepared, files, pixels.copy_to_host());
    std::fprintf(stderr,
                 "%6d images: %8.3f ms (%.3f to %.3f), %9.0f images/s; libjpeg %.0f images/s on a "
                 "core; header and data %.2f us, plan %.2f us an image; %d equal\n",
                 count, ms.median, ms.min, ms.max, 1e3 * count / ms.median, 1e3 / cpu_ms_.median,
                 1e3 * prepare_ms.median, 1e3 * plan_ms.median / count, equal);
    return {{"images", count},
            {"data_bytes", prepared.data_bytes()},
            {"pixels_bytes", prepared.pixels_bytes()},
            {"device_bytes", jpeg_decoder_bytes(batch)},
            {"ms", json_of(ms)},
            {"images_per_s", 1e3 * count / ms.median},
            {"cpu_ms_per_image", json_of(cpu_ms_)},
            {"prepare_ms_per_image", json_of(prepare_ms)},
            {"plan_ms", json_of(plan_ms)},
            {"scan_ms_by_threads_per_image", scan_times(prepared, batch)},
            {"equal_images", equal}};
  }

 private:
  /// What a loader does: header and data of one file.
  void prepare_one() {
    const Bytes& file = files_[next_++ % files_.size()];
    codec::jpeg::JpegHeader header;
    static_cast<void>(parse_header(file, header));
    const auto scan = std::span(file).subspan(header.scan_offset);
    data_.resize(codec::jpeg::max_unstuffed_bytes(scan.size()));
    codec::jpeg::unstuff(scan, data_);
  }

  /// The kernel that decodes the data, alone.
  nlohmann::json scan_times(const PreparedJpegs& prepared, const JpegBatch& batch) {
    const DeviceArray<JpegImage> images(batch.images);
    const DeviceArray<codec::jpeg::Tables> tables(batch.tables);
    const DeviceArray<std::byte> words({prepared.data(), prepared.data() + batch.data_bytes});
    const DeviceArray<std::int16_t> coefficients(std::size_t(batch.blocks) * 64);
    const DeviceArray<Irregularity> irregularity(batch.images.size());
    ECKART_CUDA_CHECK(cudaMemset(coefficients.get(), 0, coefficients.size() * 2));
    const DeviceJpegs jpegs{.images = images.get(),
                            .count = int(batch.images.size()),
                            .tables = tables.get(),
                            .words = reinterpret_cast<const std::uint32_t*>(words.get()),
                            .coefficients = coefficients.get(),
                            .samples = nullptr,
                            .pixels = nullptr,
                            .irregularity = irregularity.get()};
    nlohmann::json times;
    for (const int threads_per_image : {1, 2, 4, 8, 16, 32}) {
      const Spread ms = milliseconds(args_.repeats, [&] {
        decode_jpeg_scans(jpegs, threads_per_image, stream_.get());
        ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
      });
      std::fprintf(stderr, "        data alone, %2d threads an image: %8.3f ms\n",
                   threads_per_image, ms.median);
      times[std::to_string(threads_per_image)] = json_of(ms);
    }
    return times;
  }

  /// How many different files have the pixels of libjpeg.
  int count_equal(const PreparedJpegs& prepared, const std::vector<Bytes>& files,
                  const std::vector<std::byte>& found) const {
    int equal = 0;
    for (std::size_t i = 0; i < std::min(files.size(), files_.size()); ++i) {
      const Image expected = decode_on_cpu(files[i]);
      equal += decoder_.irregularities()[i] == Irregularity::none &&
               std::memcmp(&found[prepared.inputs()[i].pixels_offset], expected.data(),
                           expected.bytes()) == 0;
    }
    return equal;
  }

  const JpegBenchArgs args_;
  const std::vector<Bytes> files_;
  std::size_t next_ = 0;
  Bytes data_;
  Spread cpu_ms_{};
  JpegDecoder decoder_;
  const Stream stream_ =
      ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
};

nlohmann::json run(const JpegBenchArgs& args) {
  JpegBenchmark benchmark(args, read_jpegs(args));
  nlohmann::json results = nlohmann::json::array();
  for (const int count : args.counts) results.push_back(benchmark.measure(count));
  return results;
}

}  // namespace
}  // namespace eckart::compute::cuda

int main(int argc, char** argv) {
  eckart::compute::cuda::JpegBenchArgs args;
  CLI::App app("Decoding JPEGs on GPU 0", "jpeg_bench");
  app.add_option("folder", args.folder, "Folder of images")->required();
  app.add_option("--counts", args.counts, "Images of a batch")
      ->delimiter(',')
      ->check(CLI::Range(1, 65535));
  app.add_option("--repeats", args.repeats, "Batches per measurement")->check(CLI::Range(1, 10000));
  app.add_option("--quality", args.quality, "Of images that are not JPEG")
      ->check(CLI::Range(1, 100));
  CLI11_PARSE(app, argc, argv);
  return eckart::compute::cuda::bench::print_result(
      "jpeg_bench", [&] { return eckart::compute::cuda::run(args); });
}
