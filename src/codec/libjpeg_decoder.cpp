// libjpeg reports an error by calling a function that must not return. This code leaves it by
// longjmp, which runs no destructors. Therefore only plain structs and the frames of libjpeg are
// between setjmp and the callbacks.
#include "codec/libjpeg_decoder.hpp"

// jpeglib.h requires FILE and size_t.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <new>
#include <stdexcept>
#include <string>

#include "codec/unpadded_jpeg.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

constexpr int kMaxScans = 500;  // a file with a few kilobytes per scan could take hours

#ifndef D_ARITH_CODING_SUPPORTED
#error "arithmetic-coded JPEG is read: use a libjpeg-turbo that was built with WITH_ARITH_DEC"
#endif

enum class DecodeStatus { whole, corrupt, out_of_memory, too_large, late };

/// The state of decoding one image; client_data of libjpeg points to it.
struct DecodeContext {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf leave;
  Deadline* deadline;
  jpeg_source_mgr source;
  UnpaddedJpeg* unpadded;     ///< the source to decode; null: the file as it is
  bool has_extraneous_bytes;  ///< in a scan, or after it
  std::size_t max_coefficient_bytes;
  std::size_t coefficient_bytes;  ///< buffered by libjpeg if the file has several scans
  DecodeStatus end;
  char why[JMSG_LENGTH_MAX];  ///< the reason for DecodeStatus::corrupt
};

DecodeContext& context_of(j_common_ptr info) {
  return *static_cast<DecodeContext*>(info->client_data);
}

[[noreturn]] void leave(DecodeContext& decoding, DecodeStatus end) {
  decoding.end = end;
  std::longjmp(decoding.leave, 1);
}

[[noreturn]] void abort_as_corrupt(DecodeContext& decoding, const char* why) {
  std::snprintf(decoding.why, sizeof decoding.why, "%s", why);
  leave(decoding, DecodeStatus::corrupt);
}

[[noreturn]] void on_error(j_common_ptr info) {
  DecodeContext& decoding = context_of(info);
  if (info->err->msg_code == JERR_OUT_OF_MEMORY) leave(decoding, DecodeStatus::out_of_memory);
  info->err->format_message(info, decoding.why);
  leave(decoding, DecodeStatus::corrupt);
}

/// Returns whether a warning does not affect pixels.
bool is_harmless(DecodeContext& decoding) {
  const int code = decoding.errors.msg_code;
  if (code != JWRN_EXTRANEOUS_DATA) return code == JWRN_JFIF_MAJOR;
  const bool in_header = decoding.info.input_scan_number == 0;
  decoding.has_extraneous_bytes = !in_header;
  return in_header;
}

/// Called for warnings and for each marker: a file may have millions of markers without any row of
/// pixels.
void on_message(j_common_ptr info, int level) {
  constexpr int kWarning = -1, kMarker = 1;
  DecodeContext& decoding = context_of(info);
  if (level == kWarning && !is_harmless(decoding)) on_error(info);
  if (level == kMarker && decoding.deadline->passed()) leave(decoding, DecodeStatus::late);
}

/// Called for each row of blocks if there are several scans.
void on_progress(j_common_ptr info) {
  DecodeContext& decoding = context_of(info);
  if (decoding.info.input_scan_number > kMaxScans)
    abort_as_corrupt(decoding, "more than 500 scans");
  if (decoding.deadline->passed()) leave(decoding, DecodeStatus::late);
}

/// Returns the size of all coefficients of an image, two bytes each.
std::size_t coefficient_bytes(const jpeg_decompress_struct& info) {
  constexpr std::size_t kBlockBytes = DCTSIZE2 * sizeof(JCOEF);
  std::size_t bytes = 0;
  for (int i = 0; i < info.num_components; ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    bytes += kBlockBytes * component.width_in_blocks * component.height_in_blocks;
  }
  return bytes;
}

boolean fill_input_buffer(j_decompress_ptr info) {
  DecodeContext& decoding = context_of(reinterpret_cast<j_common_ptr>(info));
  const std::span<const std::byte> piece = decoding.unpadded->next();
  if (piece.empty()) abort_as_corrupt(decoding, "premature end of the file");
  decoding.source.next_input_byte = reinterpret_cast<const JOCTET*>(piece.data());
  decoding.source.bytes_in_buffer = piece.size();
  return TRUE;
}

void skip_bytes(j_decompress_ptr info, long count) {
  jpeg_source_mgr& source = *info->src;
  while (count > long(source.bytes_in_buffer)) {
    count -= long(source.bytes_in_buffer);
    fill_input_buffer(info);
  }
  if (count <= 0) return;
  source.next_input_byte += count;
  source.bytes_in_buffer -= std::size_t(count);
}

void use_unpadded(DecodeContext& decoding) {
  decoding.source.init_source = [](j_decompress_ptr) {};
  decoding.source.fill_input_buffer = fill_input_buffer;
  decoding.source.skip_input_data = skip_bytes;
  decoding.source.resync_to_restart = jpeg_resync_to_restart;
  decoding.source.term_source = [](j_decompress_ptr) {};
  decoding.info.src = &decoding.source;
}

void start(DecodeContext& decoding, std::span<const std::byte> file, const ImageShape& announced) {
  jpeg_decompress_struct& info = decoding.info;
  jpeg_create_decompress(&info);
  info.mem->max_memory_to_use = 0;  // no limit, regardless of the variable JPEGMEM
  info.progress = &decoding.progress;
  if (decoding.unpadded == nullptr) {
    jpeg_mem_src(&info, reinterpret_cast<const JOCTET*>(file.data()), file.size());
  } else {
    use_unpadded(decoding);
  }
  jpeg_read_header(&info, TRUE);
  if (info.image_height != JDIMENSION(announced.rows) ||
      info.image_width != JDIMENSION(announced.cols) || info.num_components != announced.channels) {
    abort_as_corrupt(decoding, "libjpeg reads a different size from its header");
  }
  if (jpeg_has_multiple_scans(&info)) decoding.coefficient_bytes = coefficient_bytes(info);
  if (decoding.coefficient_bytes > decoding.max_coefficient_bytes)
    leave(decoding, DecodeStatus::too_large);
  info.out_color_space = announced.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  info.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&info);
}

void read_rows(DecodeContext& decoding, unsigned char* pixels) {
  // libjpeg returns one or two rows per call, and reports progress.
  constexpr JDIMENSION kRowsAtOnce = 64;
  jpeg_decompress_struct& info = decoding.info;
  info.progress = nullptr;  // on each call, which is too often to read the clock
  const std::size_t stride = std::size_t(info.output_width) * std::size_t(info.output_components);
  while (info.output_scanline < info.output_height) {
    if (decoding.deadline->passed()) leave(decoding, DecodeStatus::late);
    JSAMPROW rows[kRowsAtOnce];
    const JDIMENSION first = info.output_scanline;
    const JDIMENSION count = std::min(kRowsAtOnce, info.output_height - first);
    for (JDIMENSION i = 0; i < count; ++i) rows[i] = pixels + (first + i) * stride;
    for (JDIMENSION i = 0; i < count;) i += jpeg_read_scanlines(&info, rows + i, count - i);
  }
}

/// Contains the only setjmp: longjmp returns to this frame.
void decode(DecodeContext& decoding, std::span<const std::byte> file, const ImageShape& announced,
            unsigned char* pixels) {
  if (setjmp(decoding.leave) != 0) return;
  start(decoding, file, announced);
  read_rows(decoding, pixels);
  jpeg_finish_decompress(&decoding.info);  // reads on to the end of the image
  decoding.end = DecodeStatus::whole;
}

/// Decodes the file, or its parts without padding, into `image`. The result contains the status.
DecodeContext decode_once(std::span<const std::byte> file, UnpaddedJpeg* unpadded, Image& image,
                          const ImageLimits& limits, Deadline& deadline) {
  const std::size_t other_bytes = file.size() + image.bytes();
  const std::size_t max_bytes = std::size_t(limits.decode_mb) << 20;
  // Use a new context for each image. It costs 0.1 microseconds, and a used context would supply
  // tables of the previous image if this image lacks them.
  DecodeContext decoding{};
  decoding.info.err = jpeg_std_error(&decoding.errors);
  decoding.info.client_data = &decoding;
  decoding.errors.error_exit = on_error;
  decoding.errors.emit_message = on_message;
  decoding.progress.progress_monitor = on_progress;
  decoding.deadline = &deadline;
  decoding.unpadded = unpadded;
  decoding.max_coefficient_bytes = max_bytes - std::min(max_bytes, other_bytes);
  decode(decoding, file, image.shape(), reinterpret_cast<unsigned char*>(image.data()));
  jpeg_destroy_decompress(&decoding.info);
  return decoding;
}

/// Zeros before a marker are accepted as padding if the file decodes completely without them.
bool decodes_without_padding(std::span<const std::byte> file, Image& image,
                             const ImageLimits& limits, Deadline& deadline) {
  UnpaddedJpeg unpadded(file);
  return decode_once(file, &unpadded, image, limits, deadline).end == DecodeStatus::whole;
}

}  // namespace

Image decode_with_libjpeg(std::span<const std::byte> file, const ImageShape& announced,
                          const ImageLimits& limits, Deadline& deadline) {
  Image image(announced);
  const DecodeContext decoding = decode_once(file, nullptr, image, limits, deadline);
  switch (decoding.end) {
    case DecodeStatus::whole:
      return image;
    case DecodeStatus::corrupt:
      if (decoding.has_extraneous_bytes && decodes_without_padding(file, image, limits, deadline))
        return image;
      if (deadline.passed()) deadline.throw_too_large();
      throw ItemError(FailureReason::corrupt, std::string("cannot be decoded: ") + decoding.why);
    case DecodeStatus::out_of_memory:
      throw std::bad_alloc();
    case DecodeStatus::too_large:
      check_decode_memory(file.size() + image.bytes() + decoding.coefficient_bytes, limits);
      break;
    case DecodeStatus::late:
      deadline.throw_too_large();
  }
  throw std::logic_error("unexpected decode status");
}

}  // namespace eckart::codec
