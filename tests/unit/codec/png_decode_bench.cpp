// Measures decode_with_libdeflate() against decode_with_spng(): CPU time of one thread, both
// decoders by turns. Arguments: folders of PNG and JPEG files. JPEG files are first encoded as PNG.
// Images of all color types and filters are made from the first file. Prints JSON.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "codec/deflate.hpp"
#include "codec/libdeflate_decoder.hpp"
#include "codec/png/filter.hpp"
#include "codec/png_chunk_reader.hpp"
#include "codec/png_chunk_writer.hpp"
#include "codec/png_contents.hpp"
#include "codec/spng_decoder.hpp"
#include "tests/unit/codec/bench_files.hpp"

namespace {

using namespace eckart;
using namespace eckart::codec;
constexpr int kTurns = 15;
constexpr int kDecodeSeconds = 1000;

std::vector<File> read_as_png(const std::string& folder) {
  std::vector<File> files = read_image_files(folder);
  for (File& file : files) {
    const Codec& codec = detect_codec(file);
    if (codec.format != ImageFormat::png)
      file = codec_for(ImageFormat::png).encode(codec.decode(file, {}).pixels, {});
  }
  return files;
}

bool same(const Image& a, const Image& b) {
  if (a.empty() || b.empty()) return a.empty() && b.empty();
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.bytes(), b.data());
}

/// Ends the process if the two decoders differ.
void check_same(const File& file) {
  const PngContents contents = read_png_contents(file);
  Deadline deadline(kDecodeSeconds);
  const auto picture = decode_with_libdeflate(contents.parts, deadline);
  const Picture expected = decode_with_spng(contents.parts, deadline);
  if (picture && same(picture->pixels, expected.pixels) && same(picture->alpha, expected.alpha))
    return;
  std::fputs("png_decode_bench: the decoders differ\n", stderr);
  std::exit(1);
}

/// Returns the milliseconds of decoding.
template <class Decode>
double measure(const File& file, const Decode& decode) {
  const std::int64_t begin = Deadline::thread_time_ns();
  const PngContents contents = read_png_contents(file);
  Deadline deadline(kDecodeSeconds);
  decode(contents.parts, deadline);
  return double(Deadline::thread_time_ns() - begin) / 1e6;
}

/// Returns the mean over the files of the shortest time of each.
nlohmann::json measure(const std::string& name, const std::vector<File>& files) {
  double libdeflate_ms = 0, spng_ms = 0;
  for (const File& file : files) {
    check_same(file);
    double fast = 1e9, slow = 1e9;
    for (int turn = 0; turn < kTurns; ++turn) {
      fast = std::min(fast, measure(file, decode_with_libdeflate));
      slow = std::min(slow, measure(file, decode_with_spng));
    }
    libdeflate_ms += fast / double(files.size());
    spng_ms += slow / double(files.size());
  }
  return {{"images", name},
          {"files", files.size()},
          {"libdeflate_ms", libdeflate_ms},
          {"spng_ms", spng_ms},
          {"ratio", spng_ms / libdeflate_ms}};
}

/// A PNG of 768 x 512 with one filter in all rows, from the bytes of another image.
File make_png(const Image& image, int bits, int color_type, int channels, png::Filter filter) {
  const std::uint32_t cols = 768, rows = 512;
  const std::size_t pixel_bytes = std::size_t(channels * bits / 8), stride = cols * pixel_bytes;
  std::vector<std::uint8_t> row(stride), above(stride);
  File filtered(rows * (stride + 1), std::byte(filter));
  for (std::size_t y = 0; y < rows; ++y) {
    row.swap(above);
    for (std::size_t i = 0; i < stride; ++i) {
      const std::size_t channel = i % pixel_bytes * 8 / std::size_t(bits);
      const std::size_t from = (y * cols + i / pixel_bytes) * 3 + channel % 3;
      const bool is_low_byte = bits == 16 && i % 2 == 1;
      row[i] = std::uint8_t(int(image.data()[from % image.bytes()]) * (is_low_byte ? 37 : 1));
    }
    auto* const to = reinterpret_cast<std::uint8_t*>(filtered.data() + y * (stride + 1) + 1);
    png::filter_row({row.data(), above.data(), stride, pixel_bytes}, filter, to);
  }
  File file, ihdr;
  append(file, kPngSignature);
  append_big_endian_32(ihdr, cols);
  append_big_endian_32(ihdr, rows);
  for (const int value : {bits, color_type, 0, 0, 0}) ihdr.push_back(std::byte(value));
  append_png_chunk(file, "IHDR", ihdr);
  append_png_chunk(file, "IDAT", compress_zlib(filtered, 6));
  append_png_chunk(file, "IEND", {});
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  nlohmann::json results = nlohmann::json::array();
  std::vector<File> first;
  for (int i = 1; i < argc; ++i) {
    const std::vector<File> files = read_as_png(argv[i]);
    if (first.empty()) first = files;
    results.push_back(measure(argv[i], files));
  }
  if (first.empty()) return 64;
  const Image image = codec_for(ImageFormat::png).decode(first[0], {}).pixels;
  constexpr struct {
    const char* name;
    int color_type, channels;
  } kTypes[] = {{"gray", 0, 1}, {"gray and alpha", 4, 2}, {"RGB", 2, 3}, {"RGBA", 6, 4}};
  constexpr const char* kFilters[] = {"None", "Sub", "Up", "Average", "Paeth"};
  for (const auto& type : kTypes) {
    for (const int bits : {8, 16}) {
      for (int filter = 0; filter < 5; ++filter)
        results.push_back(
            measure(std::string(type.name) + ", " + std::to_string(bits) + " bits, filter " +
                        kFilters[filter],
                    {make_png(image, bits, type.color_type, type.channels, png::Filter(filter))}));
    }
  }
  std::puts(results.dump(1).c_str());
  return 0;
}
