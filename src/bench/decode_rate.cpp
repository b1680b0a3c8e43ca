#include "bench/decode_rate.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/alpha.hpp"
#include "codec/codec.hpp"
#include "core/byte_buffer.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "io/input_file.hpp"

namespace eckart::bench {
namespace {

constexpr std::size_t kMaxBytes = std::size_t(256) << 20;  // of all files in memory

using File = ByteBuffer;

std::vector<File> read_files(std::span<const std::filesystem::path> paths,
                             const settings::Settings& settings) {
  std::vector<File> files;
  std::size_t bytes = 0;
  for (const auto& path : paths) {
    if (bytes > kMaxBytes) break;
    const io::InputFile file(path);
    if (file.size() > 0) files.push_back(file.read_all(settings.limits.file_mb));
    bytes += std::size_t(file.size());
  }
  return files;
}

void decode(const File& file, const settings::Settings& settings) try {
  const codec::Codec& codec = codec::detect_codec(codec::FileBytes(file), settings.input.decoder);
  static_cast<void>(codec::admit(codec, codec::FileBytes(file), settings.limits));
  Picture picture = codec.decode(file, settings.limits);
  codec::apply_alpha_policy(picture, settings.input.alpha);
} catch (const ItemError&) {
}

}  // namespace

Rate measure_decoding(std::span<const std::filesystem::path> paths,
                      const settings::Settings& settings, int threads, double seconds,
                      const std::stop_token& stop) {
  const std::vector<File> files = read_files(paths, settings);
  if (files.empty()) return {};
  std::atomic<std::size_t> next{0};
  std::atomic<std::int64_t> decoded{0};
  const Instant end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(seconds));
  Rate rate = measure_on_threads(threads, 0, [&](int) {
    do {
      decode(files[next++ % files.size()], settings);
      ++decoded;
    } while (Clock::now() < end && !stop.stop_requested());
  });
  rate.count = decoded;
  return rate;
}

}  // namespace eckart::bench
