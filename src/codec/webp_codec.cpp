// WebP, with libwebp. Container: RFC 9649.
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/alpha.hpp"
#include "codec/deadline.hpp"
#include "codec/exif.hpp"
#include "codec/exif_entries.hpp"
#include "codec/image_codecs.hpp"
#include "codec/metadata_collector.hpp"
#include "codec/orientation.hpp"

namespace eckart::codec {
namespace {

constexpr std::size_t kRiffHeader = 12;  // "RIFF", size, "WEBP"

const std::uint8_t* data_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

bool sniff(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return text.starts_with("RIFF") && text.size() >= kRiffHeader &&
         text.substr(8).starts_with("WEBP");
}

struct WebpHeader {
  ImageShape shape;
  bool has_alpha = false;
  std::size_t size = 0;  ///< of the file that the RIFF header states

  /// Lossless images are decoded to 4 bytes per pixel, of which libwebp has one copy and alpha
  /// another. Lossy images take less.
  /// To rotate the pixels afterwards needs less than to decode them.
  std::size_t decode_bytes() const {
    const std::size_t pixels = std::size_t(shape.rows) * std::size_t(shape.cols);
    const std::size_t alpha = has_alpha ? pixels : 0;
    const std::size_t decoder = 4 * pixels + 8 * alpha;
    return shape.bytes() + alpha + decoder;
  }
};

WebpHeader parse_header(FileBytes file) {
  // More than the chunks before the size of the image, unless a profile precedes it: then VP8X has
  // the size.
  constexpr std::size_t kStart = 64;
  const std::size_t size = file.size();
  const std::span<const std::byte> start = file.at(0, kStart);
  if (!sniff(start)) fail_corrupt("has no WebP signature");
  std::size_t riff_size = 0;
  for (std::size_t i = 4; i-- > 0;) riff_size = riff_size << 8 | std::size_t(start[4 + i]);
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(data_of(start), std::min(size, kStart), &features);
  if (status != VP8_STATUS_OK || features.width <= 0 || features.height <= 0)
    fail_corrupt("has a wrong header");
  if (features.has_animation != 0) fail_unsupported("is an animation; extract one image first");
  if (size < riff_size + 8) fail_corrupt("truncated: the file is shorter than its header states");
  return {{features.height, features.width, 3, Depth::u8}, features.has_alpha != 0, riff_size + 8};
}

Header read_header(FileBytes file) {
  const std::size_t max_metadata = max_stored_metadata(file.size());
  const WebpHeader header = parse_header(std::move(file));
  // An EXIF chunk may follow the pixels and require a rotated copy.
  return {header.shape, header.decode_bytes(), header.decode_bytes(), header.has_alpha,
          max_metadata};
}

struct DeleteDemuxer {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};

/// Returns the data of a chunk, in the memory of the file.
std::span<const std::byte> chunk_of(const WebPDemuxer* demuxer, const char* name) {
  WebPChunkIterator chunk;
  std::span<const std::byte> data;
  if (WebPDemuxGetChunk(demuxer, name, 1, &chunk) != 0)
    data = {reinterpret_cast<const std::byte*>(chunk.chunk.bytes), chunk.chunk.size};
  WebPDemuxReleaseChunkIterator(&chunk);
  return data;
}

StoredMetadata metadata_of(std::span<const std::byte> file) {
  const WebPData data{data_of(file), file.size()};
  const std::unique_ptr<WebPDemuxer, DeleteDemuxer> demuxer(WebPDemux(&data));
  if (!demuxer) fail_corrupt("has wrong chunks");
  return {chunk_of(demuxer.get(), "ICCP"), exif_of_chunk(chunk_of(demuxer.get(), "EXIF")),
          chunk_of(demuxer.get(), "XMP ")};
}

void check(VP8StatusCode status) {
  if (status == VP8_STATUS_OK) return;
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw std::bad_alloc();
  fail_corrupt(status == VP8_STATUS_NOT_ENOUGH_DATA ? "truncated: the image data ends early"
                                                    : "cannot be decoded by libwebp");
}

/// Decodes into memory of rows x cols x channels of the color space.
void decode_into(std::span<const std::byte> file, const WebpHeader& header, WEBP_CSP_MODE mode,
                 std::span<std::byte> to) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) throw std::bad_alloc();
  config.output.colorspace = mode;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = reinterpret_cast<std::uint8_t*>(to.data());
  config.output.u.RGBA.size = to.size();
  config.output.u.RGBA.stride = int(to.size() / std::size_t(header.shape.rows));
  check(WebPDecode(data_of(file), file.size(), &config));
}

/// libwebp cannot be interrupted. Its time is proportional to the pixels, of which a file has at
/// most 16383 x 16383.
Picture decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const WebpHeader header = parse_header(file);
  const std::span<const std::byte> image = file.first(header.size);
  const StoredMetadata metadata = metadata_of(image);
  const int orientation = exif_orientation(metadata.exif);
  check_decode_memory(file.size() + header.decode_bytes(), limits);
  Picture picture;
  if (header.has_alpha) {
    std::vector<std::byte> samples(header.shape.bytes() / 3 * 4);
    decode_into(image, header, MODE_RGBA, samples);
    picture = split_alpha(samples, header.shape);
  } else {
    picture.pixels = Image(header.shape);
    decode_into(image, header, MODE_RGB, {picture.pixels.data(), picture.pixels.bytes()});
  }
  if (deadline.passed_now()) deadline.throw_too_large();
  picture = apply_orientation(std::move(picture), orientation);
  picture.metadata = copy_metadata(metadata, std::min(max_stored_metadata(file.size()),
                                                      metadata_room(file.size(), picture, limits)));
  return picture;
}

void check_encodable(const ImageShape& shape, bool) {
  check_depth("WebP", shape.depth, Depth::u8);
  if (std::max(shape.rows, shape.cols) > WEBP_MAX_DIMENSION) {
    throw ItemError(FailureReason::not_encodable, "WebP allows at most " +
                                                      std::to_string(WEBP_MAX_DIMENSION) +
                                                      " pixels per side; use output.format=png");
  }
}

/// A picture for libwebp, and the file that it writes.
class Encoder {
 public:
  Encoder() {
    if (WebPPictureInit(&picture_) == 0) throw std::bad_alloc();
    WebPMemoryWriterInit(&writer_);
    picture_.writer = WebPMemoryWrite;
    picture_.custom_ptr = &writer_;
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() {
    WebPPictureFree(&picture_);
    WebPMemoryWriterClear(&writer_);
  }

  void import(const PictureView& view, bool lossless) {
    const ImageShape& shape = view.pixels.shape();
    picture_.width = shape.cols;
    picture_.height = shape.rows;
    picture_.use_argb = lossless ? 1 : 0;
    const std::vector<std::byte> samples = rgb_samples(view);
    const int stride = shape.cols * (view.has_alpha() ? 4 : 3);
    check(view.has_alpha() ? WebPPictureImportRGBA(&picture_, data_of(samples), stride)
                           : WebPPictureImportRGB(&picture_, data_of(samples), stride));
  }

  WebPData encode(const WebPConfig& config) {
    check(WebPEncode(&config, &picture_));
    return {writer_.mem, writer_.size};
  }

 private:
  void check(int ok) const {
    if (ok != 0) return;
    if (picture_.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY) throw std::bad_alloc();
    throw ItemError(FailureReason::not_written, "the image cannot be encoded: libwebp error " +
                                                    std::to_string(picture_.error_code));
  }

  /// RGB or RGBA; WebP has no gray.
  static std::vector<std::byte> rgb_samples(const PictureView& view) {
    const std::size_t channels = std::size_t(view.pixels.shape().channels);
    std::vector<std::byte> samples;
    samples.reserve(view.pixels.bytes() / channels * (view.has_alpha() ? 4 : 3));
    for (std::size_t i = 0; i < view.pixels.bytes() / channels; ++i) {
      const std::byte* pixel = view.pixels.data() + i * channels;
      for (std::size_t c = 0; c < 3; ++c) samples.push_back(pixel[c % channels]);
      if (view.has_alpha()) samples.push_back(view.alpha->data()[i]);
    }
    return samples;
  }

  WebPPicture picture_;
  WebPMemoryWriter writer_;
};

struct DeleteMux {
  void operator()(WebPMux* mux) const { WebPMuxDelete(mux); }
};

void add_chunk(WebPMux* mux, const char* name, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const WebPData data{data_of(bytes), bytes.size()};
  if (WebPMuxSetChunk(mux, name, &data, 0) != WEBP_MUX_OK) throw std::bad_alloc();
}

std::vector<std::byte> bytes_of(const WebPData& data) {
  const auto* begin = reinterpret_cast<const std::byte*>(data.bytes);
  return {begin, begin + data.size};
}

std::vector<std::byte> with_metadata(const WebPData& image, const StoredMetadata& metadata) {
  const std::unique_ptr<WebPMux, DeleteMux> mux(WebPMuxCreate(&image, 0));
  if (!mux) throw std::bad_alloc();
  add_chunk(mux.get(), "ICCP", metadata.icc);
  add_chunk(mux.get(), "EXIF", metadata.exif);
  add_chunk(mux.get(), "XMP ", metadata.xmp);
  WebPData file{nullptr, 0};
  if (WebPMuxAssemble(mux.get(), &file) != WEBP_MUX_OK) throw std::bad_alloc();
  const std::unique_ptr<WebPData, void (*)(WebPData*)> owner(&file, WebPDataClear);
  return bytes_of(file);
}

WebPConfig make_config(int quality) {
  WebPConfig config;
  const bool lossless = quality == kLosslessWebp;
  if (WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, float(lossless ? 75 : quality)) == 0)
    throw std::bad_alloc();
  if (lossless && WebPConfigLosslessPreset(&config, 1) == 0) throw std::bad_alloc();
  config.exact = 1;  // keeps the color of transparent pixels
  return config;
}

std::vector<std::byte> encode(const PictureView& picture, const EncodeOptions& options) {
  check_encodable(picture.pixels.shape(), picture.has_alpha());
  Encoder encoder;
  encoder.import(picture, options.webp_quality == kLosslessWebp);
  const WebPData image = encoder.encode(make_config(options.webp_quality));
  const std::vector<std::byte> exif = described_exif(picture);
  StoredMetadata metadata{.exif = exif};
  if (picture.metadata != nullptr) {
    metadata.icc = picture.metadata->icc;
    metadata.xmp = picture.metadata->xmp;
  }
  if (metadata.icc.empty() && metadata.exif.empty() && metadata.xmp.empty()) return bytes_of(image);
  return with_metadata(image, metadata);
}

}  // namespace

std::string webp_version() {
  const int version = WebPGetDecoderVersion();
  return std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 0xFF) + "." +
         std::to_string(version & 0xFF);
}

Codec webp_codec() {
  return {ImageFormat::webp,       "webp", sniff, read_header, decode, check_encodable, encode,
          {.has_png_color = false}};
}

}  // namespace eckart::codec
