#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "core/byte_buffer.hpp"
#include "core/color_mode.hpp"
#include "core/output_encoding.hpp"
#include "core/preparation.hpp"
#include "core/rank_policy.hpp"
#include "io/input_file.hpp"
#include "io/source.hpp"
#include "pipeline/full_rank_filter.hpp"
#include "pipeline/work_item.hpp"
#include "preparation/preparer.hpp"

namespace eckart::pipeline {

/// Makes an item from a source item. The item is failed if the source could not access the file.
ItemPtr make_work_item(io::SourceItem arrival);

/// What the pipeline provides to an item that is being loaded.
class LoadContext {
 public:
  virtual ~LoadContext() = default;
  /// Waits until the bytes are free. Returns an empty reservation if the run is aborted.
  virtual flow::Budget::Reservation reserve(std::size_t bytes) = 0;
  /// Null if images are resized on the CPU.
  virtual preparation::Resizer* resizer() { return nullptr; }
  /// Whether the backend is to decode a file of this format, shape and size.
  virtual bool leaves_to_backend(ImageFormat /*format*/, const ImageShape& /*shape*/,
                                 std::size_t /*bytes*/) {
    return false;
  }
  /// A file of this size was decoded that the backend might have decoded.
  virtual void add_decoded(ImageFormat /*format*/, std::size_t /*bytes*/,
                           std::chrono::nanoseconds /*time*/) {}
};

/// Opens the file of a watch and records its identity in the item; returns nullopt for other items.
/// Throws ItemError.
std::optional<io::InputFile> open_watched_file(WorkItem& item);

/// How inputs are decoded and prepared.
struct InputOptions {
  Decoder decoder = Decoder::strict;
  AlphaPolicy alpha = AlphaPolicy::keep;
  Preparation preparation = {};
  ColorMode color = ColorMode::channels;
  std::optional<RankPolicy> chroma_rank = {};  ///< of Cb and Cr; nullopt: as Y
  bool wants_spectra = false;                  ///< Task::wants_spectrum
  bool wants_factors = false;                  ///< Task::min_factor_rank
  /// If set, outputs are needed only as this encodes them: Task::encoding. The subsampling of a
  /// JPEG is chosen for each image.
  std::optional<OutputEncoding> encoding = {};
  JpegSubsampling jpeg_subsampling = JpegSubsampling::keep;
  /// The pixels of inputs are needed only by the backend: Task::encoded_input.
  bool needs_no_pixels = false;
  /// Why files of factors are refused; empty: they are inputs too.
  std::string why_no_factors{};
};

/// Decodes files and prepares their images for tasks. A file of factors becomes a task with known
/// factors. So does an image whose factors an earlier run has kept, if they suffice. Thread-safe.
/// Must outlive the items, which refer to its ranks.
class Loader {
 public:
  /// `outputs` is the codec of the outputs; null if they are not written. `copies` is how many
  /// copies of the pixels the backend holds, including the task's own.
  Loader(const ImageLimits& limits, std::vector<RankPolicy> ranks, const codec::Codec* outputs,
         int copies = 1, const InputOptions& input = {});

  /// Decodes `open`, or the item's file if `open` is empty, and prepares the image for the item's
  /// task. Checks the header against the limits, and the prepared shape against the limits and the
  /// output format. Makes one reservation: the maximum of (file + decoder), preparation and
  /// (pixels, matrices, outputs and a residual + alpha). After the preparation, it is reduced to
  /// the last. If the reservation is empty, returns without decoding. Throws ItemError.
  void load(WorkItem& item, std::optional<io::InputFile> open, LoadContext& context);

 private:
  /// Whether nobody but the backend needs the pixels.
  bool may_be_left_undecoded(const WorkItem& item, const codec::Codec& codec,
                             const codec::Header& header) const;
  std::optional<Picture> leave_undecoded(WorkItem& item, ByteBuffer& bytes,
                                         const codec::Codec& codec) const;
  /// Decodes the bytes of a file, or leaves that to the backend.
  Picture decode(WorkItem& item, ByteBuffer bytes, const codec::Codec& codec,
                 LoadContext& context) const;
  Picture decode(WorkItem& item, const io::InputFile& file, const codec::Codec& codec,
                 const codec::Header& header, LoadContext& context) const;
  /// Returns the bytes of the image, its matrices and outputs, the residual that is written, and
  /// written factors, for a prepared image of this shape.
  std::size_t resident_bytes(const WorkItem& item, const ImageShape& prepared,
                             ColorMode color) const;
  std::size_t written_factor_bytes(const ImageShape& prepared, ColorMode color) const;
  /// Sets the known factors of the prepared task if the kept ones suffice for it.
  void use_kept_factors(WorkItem& item) const;
  /// Sets Task::encoding.
  void set_encoding(WorkItem& item) const;
  /// Throws ItemError(unsupported) if the settings need pixels.
  void check_factors_suffice(const ImageShape& shape) const;
  std::size_t bytes_to_reserve(const WorkItem& item, std::size_t file_bytes,
                               const codec::Header& header) const;
  void log_full_rank(const WorkItem& item);
  void warn_of_jpeg_noise(const WorkItem& item, ImageFormat format);

  const ImageLimits limits_;
  const std::vector<RankPolicy> ranks_;
  const codec::Codec* const outputs_;
  const std::size_t copies_;
  const InputOptions input_;
  preparation::Preparer preparer_;
  std::atomic<bool> logged_{false};
  std::atomic<bool> has_warned_of_noise_{false};
};

}  // namespace eckart::pipeline
