// libjpeg reports an error by calling a function that must not return. This code leaves it by
// longjmp, which runs no destructors. Therefore only plain structs and the frames of libjpeg are
// between setjmp and the callbacks.
#include "codec/jpeg_encoder.hpp"

// jpeglib.h requires FILE and size_t.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <new>
#include <string>

#include "codec/density_units.hpp"
#include "codec/exif.hpp"
#include "codec/jpeg_metadata.hpp"
#include "codec/png_chunk_writer.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

/// The segments of a file. Made before libjpeg is called, because it could not free them.
struct Segments {
  std::vector<std::byte> exif, xmp, icc, comment;
};

/// The state of encoding one image; client_data of libjpeg points to it.
struct EncodeContext {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  std::jmp_buf leave;
  jpeg_destination_mgr destination;
  std::vector<std::byte>* file;
  std::size_t first_capacity;
  bool is_out_of_memory;
  bool is_done;
  char why[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_error(j_common_ptr info) {
  EncodeContext& encoding = *static_cast<EncodeContext*>(info->client_data);
  encoding.is_out_of_memory = info->err->msg_code == JERR_OUT_OF_MEMORY;
  info->err->format_message(info, encoding.why);
  std::longjmp(encoding.leave, 1);
}

EncodeContext& context_of(j_compress_ptr info) {
  return *static_cast<EncodeContext*>(info->client_data);
}

/// Returns false if memory runs out. The frames of libjpeg let no exception pass.
bool resize(std::vector<std::byte>& file, std::size_t bytes) noexcept try {
  file.resize(bytes);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

/// Enlarges the file, and lets libjpeg write behind what it has.
void enlarge(EncodeContext& encoding, std::size_t capacity) {
  const std::size_t used = encoding.file->size();
  if (!resize(*encoding.file, capacity)) {
    encoding.is_out_of_memory = true;
    std::longjmp(encoding.leave, 1);
  }
  encoding.destination.next_output_byte = reinterpret_cast<JOCTET*>(encoding.file->data()) + used;
  encoding.destination.free_in_buffer = capacity - used;
}

void use_memory(EncodeContext& encoding) {
  jpeg_destination_mgr& destination = encoding.destination;
  destination.init_destination = [](j_compress_ptr info) {
    enlarge(context_of(info), context_of(info).first_capacity);
  };
  destination.empty_output_buffer = [](j_compress_ptr info) -> boolean {
    EncodeContext& context = context_of(info);
    enlarge(context, 2 * context.file->size());
    return TRUE;
  };
  destination.term_destination = [](j_compress_ptr info) {
    EncodeContext& context = context_of(info);
    context.file->resize(context.file->size() - context.destination.free_in_buffer);
  };
  encoding.info.dest = &destination;
}

/// Sets JFIF density. Units of JFIF: 0 ratio, 1 inch, 2 centimeter.
void set_density(jpeg_compress_struct& info, const PixelDensity& density) {
  const bool uses_inches =
      is_whole_number(density, kInchesPerMeter) || !is_whole_number(density, kCentimetersPerMeter);
  const double scale = uses_inches ? kInchesPerMeter : kCentimetersPerMeter;
  const double per_unit = density.is_ratio ? 1 : scale;
  const double x = std::round(density.x / per_unit), y = std::round(density.y / per_unit);
  if (x < 1 || y < 1 || x > UINT16_MAX || y > UINT16_MAX) return;
  info.density_unit = density.is_ratio ? 0 : uses_inches ? 1 : 2;
  info.X_density = UINT16(x);
  info.Y_density = UINT16(y);
}

void configure(jpeg_compress_struct& info, const PictureView& picture,
               const EncodeOptions& options) {
  const ImageShape& shape = picture.pixels.shape();
  info.image_width = JDIMENSION(shape.cols);
  info.image_height = JDIMENSION(shape.rows);
  info.input_components = shape.channels;
  info.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.jpeg_quality, TRUE);
  info.optimize_coding = boolean(options.jpeg_optimize);
  const ChromaSubsampling subsampling =
      jpeg_subsampling(shape, picture.metadata, options.jpeg_subsampling);
  info.comp_info[0].h_samp_factor = subsampling.cols;
  info.comp_info[0].v_samp_factor = subsampling.rows;
  if (options.jpeg_progressive) jpeg_simple_progression(&info);
  if (picture.metadata != nullptr && picture.metadata->density)
    set_density(info, *picture.metadata->density);
}

void write_segment(jpeg_compress_struct& info, int marker, const std::vector<std::byte>& data) {
  if (data.empty()) return;
  jpeg_write_marker(&info, marker, reinterpret_cast<const JOCTET*>(data.data()),
                    unsigned(data.size()));
}

void write_rows(jpeg_compress_struct& info, const Image& pixels) {
  const std::size_t stride = std::size_t(info.image_width) * std::size_t(info.input_components);
  auto* const first = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(pixels.data()));
  constexpr JDIMENSION kRows = 16;  // of a group of blocks
  JSAMPROW rows[kRows];
  while (info.next_scanline < info.image_height) {
    const JDIMENSION count = std::min(kRows, info.image_height - info.next_scanline);
    for (JDIMENSION i = 0; i < count; ++i) rows[i] = first + (info.next_scanline + i) * stride;
    jpeg_write_scanlines(&info, rows, count);
  }
}

enum class Part { file, head };

/// Contains the only setjmp: longjmp returns to this frame.
void encode(EncodeContext& encoding, const PictureView& picture, const EncodeOptions& options,
            const Segments& segments, Part part) {
  if (setjmp(encoding.leave) != 0) return;
  jpeg_compress_struct& info = encoding.info;
  jpeg_create_compress(&info);
  info.mem->max_memory_to_use = 0;  // no limit, regardless of the variable JPEGMEM
  use_memory(encoding);
  configure(info, picture, options);
  jpeg_start_compress(&info, TRUE);
  write_segment(info, JPEG_APP0 + 1, segments.exif);
  write_segment(info, JPEG_APP0 + 1, segments.xmp);
  if (!segments.icc.empty())
    jpeg_write_icc_profile(&info, reinterpret_cast<const JOCTET*>(segments.icc.data()),
                           unsigned(segments.icc.size()));
  write_segment(info, JPEG_COM, segments.comment);
  if (part == Part::file) {
    write_rows(info, picture.pixels);
    jpeg_finish_compress(&info);
  } else {
    jpeg_write_scanlines(&info, nullptr, 0);  // the headers
    encoding.file->resize(encoding.file->size() - encoding.destination.free_in_buffer);
  }
  encoding.is_done = true;
}

/// Returns prefix and data; nothing if there is no data, or too much.
std::vector<std::byte> segment_of(std::string_view prefix, std::span<const std::byte> data) {
  std::vector<std::byte> segment;
  if (data.empty() || prefix.size() + data.size() > kMaxJpegSegmentBytes) return segment;
  append(segment, prefix);
  append(segment, data);
  return segment;
}

Segments make_segments(const PictureView& picture) {
  Segments segments;
  if (const Metadata* metadata = picture.metadata) {
    segments.exif = segment_of(kExifPrefix, metadata->exif);
    segments.xmp = segment_of(kJpegXmpPrefix, metadata->xmp);
    if (metadata->icc.size() <= kMaxJpegIccBytes) segments.icc = metadata->icc;
  }
  std::string comment;
  for (const TextEntry& entry : picture.texts)
    comment += (comment.empty() ? "" : "\n") + entry.keyword + ": " + entry.text;
  segments.comment = segment_of({}, std::as_bytes(std::span(comment)));
  return segments;
}

/// Returns the file, or its bytes before the entropy-coded data. Reserves `capacity` for them.
std::vector<std::byte> encode(const PictureView& picture, const EncodeOptions& options, Part part,
                              std::size_t capacity) {
  const Segments segments = make_segments(picture);
  std::vector<std::byte> bytes;
  EncodeContext encoding{};
  encoding.file = &bytes;
  encoding.first_capacity = capacity;
  encoding.info.err = jpeg_std_error(&encoding.errors);
  encoding.info.client_data = &encoding;
  encoding.errors.error_exit = on_error;
  encoding.errors.emit_message = [](j_common_ptr, int) {};
  encode(encoding, picture, options, segments, part);
  jpeg_destroy_compress(&encoding.info);
  if (encoding.is_out_of_memory) throw std::bad_alloc();
  if (!encoding.is_done)
    throw ItemError(FailureReason::not_written,
                    std::string("the image cannot be encoded: ") + encoding.why);
  return bytes;
}

constexpr std::size_t kHeadCapacity = 4096;  // without much metadata

}  // namespace

ChromaSubsampling jpeg_subsampling(const ImageShape& shape, const Metadata* metadata,
                                   JpegSubsampling choice) {
  if (shape.channels == 1) return {};
  switch (choice) {
    case JpegSubsampling::keep:
      break;
    case JpegSubsampling::k444:
      return {1, 1};
    case JpegSubsampling::k422:
      return {2, 1};
    case JpegSubsampling::k420:
      return {2, 2};
  }
  return metadata != nullptr ? metadata->subsampling.value_or(ChromaSubsampling{})
                             : ChromaSubsampling{};
}

std::vector<std::byte> encode_jpeg(const PictureView& picture, const EncodeOptions& options) {
  constexpr std::size_t kUsualCompression = 4;
  return encode(picture, options, Part::file,
                kHeadCapacity + picture.pixels.bytes() / kUsualCompression);
}

HeadAndTail encode_jpeg_head_and_tail(const PictureView& picture, const EncodeOptions& options) {
  return {encode(picture, options, Part::head, kHeadCapacity),
          {std::byte(0xFF), std::byte(JPEG_EOI)}};
}

}  // namespace eckart::codec
