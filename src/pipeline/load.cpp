#include "pipeline/load.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "codec/alpha.hpp"
#include "codec/dicom_header.hpp"
#include "codec/factors_file.hpp"
#include "codec/jpeg_encoder.hpp"
#include "compute/known_ranks.hpp"
#include "core/error.hpp"
#include "core/rank_spec.hpp"
#include "core/stored_range.hpp"
#include "io/content_hash.hpp"
#include "pipeline/color_planes.hpp"
#include "preparation/color_matrices.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {

ItemPtr make_work_item(io::SourceItem arrival) {
  auto item = std::make_unique<WorkItem>();
  item->file = std::move(arrival.file);
  item->relative = std::move(arrival.relative);
  item->outcome = std::move(arrival.outcome);
  item->job = arrival.job;
  item->sibling_folders = std::move(arrival.sibling_folders);
  item->attempt = arrival.attempt;
  item->is_last_attempt = arrival.is_last_attempt;
  item->file_state = arrival.identity.state;
  item->rooted_file = std::move(arrival.rooted_file);
  item->identity = arrival.identity;
  return item;
}

namespace {

/// The factors are in levels of the image, and those of the task in levels of its matrices.
void set_known_factors(WorkItem& item, std::vector<Factors> matrices) {
  item.task.known_factors = std::move(matrices);
  for (Factors& matrix : item.task.known_factors)
    matrix.scale_levels(matrices_scale(item.image_shape, item.color));
}

/// Whether these can be the factors of the item's matrices.
bool have_shape_of(const ImageFactors& factors, const WorkItem& item) {
  const ImageShape& shape = item.matrices_shape;
  return factors.color == item.color && factors.shape.depth == item.image_shape.depth &&
         factors.matrices.size() == std::size_t(shape.channels) &&
         std::ranges::all_of(factors.matrices, [&](const Factors& matrix) {
           return matrix.rows == shape.rows && matrix.cols == shape.cols;
         });
}

/// Whether the outputs of the task are the pixels that are written.
bool may_be_encoded_as_computed(const WorkItem& item) {
  return item.image.empty() && item.alpha.empty() && item.matrices_shape == item.image_shape &&
         !largest_stored_sample(item.metadata, item.image_shape.depth);
}

/// Returns all bytes of a file that is so small that its header may as well be read with them,
/// before the memory is reserved. Otherwise returns none. Each load thread holds at most one such
/// file.
ByteBuffer read_if_small(const io::InputFile& file) {
  constexpr std::int64_t kMaxSmall = 64 << 10;
  if (file.size() > kMaxSmall) return {};
  ByteBuffer bytes(std::size_t(file.size()));
  if (file.read_at(0, bytes) != bytes.size()) bytes.clear();  // it has become shorter
  return bytes;
}

/// The memory of a file that the backend decodes, and of its data or the list of their parts.
std::size_t encoded_bytes(const WorkItem& item, std::size_t file_bytes) {
  return item.undecoded_format ? 2 * file_bytes : 0;
}

/// The memory of the kept factors and their file.
std::size_t kept_factor_bytes(const WorkItem& item) {
  return item.kept_factors ? 2 * std::size_t(item.kept_factors->bytes) : 0;
}

}  // namespace

/// Records the identity of the opened file, so that the file that is checked, read and later
/// removed is the same.
std::optional<io::InputFile> open_watched_file(WorkItem& item) {
  if (!item.rooted_file) return std::nullopt;
  io::InputFile input = io::open_input(item.rooted_file);
  item.identity = io::identity_of(input);
  item.file_state = item.identity.state;
  return input;
}

Loader::Loader(const ImageLimits& limits, std::vector<RankPolicy> ranks,
               const codec::Codec* outputs, int copies, const InputOptions& input)
    : limits_(limits),
      ranks_(std::move(ranks)),
      outputs_(outputs),
      copies_(std::size_t(copies)),
      input_(input),
      preparer_(input.preparation) {}

void Loader::load(WorkItem& item, std::optional<io::InputFile> open, LoadContext& context) {
  if (!open) open.emplace(item.file);
  item.output_ranks = ranks_;
  const io::InputFile& file = *open;
  file.check_size(limits_.file_mb);
  ByteBuffer small = read_if_small(file);
  const auto header_bytes = [&] {
    return small.empty() ? file.bytes_on_demand() : codec::FileBytes(small);
  };
  const codec::Codec& codec = codec::detect_codec(header_bytes(), input_.decoder);
  const codec::Header header = codec::admit(codec, header_bytes(), limits_);
  if (header.factor_bytes > 0) check_factors_suffice(header.shape);
  const ImageShape prepared = prepared_shape(header.shape, preparer_.preparation());
  if (preparer_.preparation().size.is_set()) codec::check_shape(prepared, limits_, "resized to ");
  if (outputs_) outputs_->check_encodable(prepared, /*has_alpha=*/false);  // which decoding shows
  item.undecoded_format.reset();
  if (may_be_left_undecoded(item, codec, header) &&
      context.leaves_to_backend(codec.format, header.shape, std::size_t(file.size())))
    item.undecoded_format = codec.format;
  item.reservation = context.reserve(bytes_to_reserve(item, std::size_t(file.size()), header));
  if (!item.reservation) return;
  Picture picture =
      preparer_.prepare(small.empty() ? decode(item, file, codec, header, context)
                                      : decode(item, std::move(small), codec, context),
                        context.resizer());
  clamp_to_stored_bits(picture);
  if (outputs_) outputs_->check_encodable(picture.pixels.shape(), !picture.alpha.empty());
  if (picture.factors) {
    set_matrices(item, std::move(picture.pixels), picture.factors->color);
    set_known_factors(item, std::move(picture.factors->matrices));
    item.samples = std::move(picture.factors->samples);
  } else {
    set_matrices(item, std::move(picture.pixels), input_.color);
  }
  if (picture.metadata.dicom)
    spdlog::debug("{}: {}", text::printable(item.file.native()),
                  codec::to_string(*picture.metadata.dicom));
  item.alpha = std::move(picture.alpha);
  item.metadata = std::move(picture.metadata);
  item.reservation.shrink_to(resident_bytes(item, item.image_shape, item.color) +
                             item.alpha.bytes() + item.metadata.bytes() + header.factor_bytes +
                             kept_factor_bytes(item) +
                             encoded_bytes(item, std::size_t(item.input_bytes)));
  if (!item.metadata.dropped.empty())
    spdlog::warn("{}: metadata dropped: {}", text::printable(item.file.native()),
                 item.metadata.dropped);
  warn_of_jpeg_noise(item, codec.format);
  prepare_task(item, ranks_, input_.chroma_rank, input_.wants_factors);
  if (item.has_known_pixels()) log_full_rank(item);
  item.task.wants_spectrum = input_.wants_spectra;
  set_encoding(item);
  if (item.kept_factors && !item.skips_backend && item.has_known_pixels()) use_kept_factors(item);
}

void Loader::set_encoding(WorkItem& item) const {
  if (!input_.encoding || !may_be_encoded_as_computed(item)) return;
  OutputEncoding& encoding = item.task.encoding.emplace(*input_.encoding);
  if (encoding.format == OutputFormat::jpeg)
    encoding.subsampling =
        codec::jpeg_subsampling(item.image_shape, &item.metadata, input_.jpeg_subsampling);
}

void Loader::use_kept_factors(WorkItem& item) const {
  const auto log = [&](const std::string& problem) {
    spdlog::debug("{}: {}; the image is decomposed",
                  text::printable(item.kept_factors->file.native()), problem);
  };
  compute::Task& task = item.task;
  try {
    ImageFactors factors =
        codec::decode_factors(io::InputFile(item.kept_factors->file).read_all(limits_.file_mb));
    if (!have_shape_of(factors, item)) return log("factors of another image");
    set_known_factors(item, std::move(factors.matrices));
  } catch (const ItemError& error) {
    return log(error.what());
  }
  task.known_loss_db = item.kept_factors->loss_estimate_db;
  if (compute::do_known_factors_suffice(task)) return;
  log("more factors are needed than were kept");
  task.known_factors.clear();
}

std::size_t Loader::resident_bytes(const WorkItem& item, const ImageShape& prepared,
                                   ColorMode color) const {
  std::size_t outputs = 0;
  bool writes_residuals = false;
  for (std::size_t i = 0; i < ranks_.size(); ++i) outputs += item.is_rank_needed(i) ? 1 : 0;
  for (std::size_t i = 0; i < item.outputs.size(); ++i)
    writes_residuals = writes_residuals || item.is_residual(i);
  const std::size_t image = prepared.bytes();
  const std::size_t matrices = matrices_shape(prepared, color).bytes();
  const std::size_t factors = item.needs_factors() ? written_factor_bytes(prepared, color) : 0;
  const std::size_t computing = copies_ * matrices * (1 + outputs);
  const std::size_t writing = image * (1 + outputs + (writes_residuals ? 1 : 0));
  if (!preparation::has_own_matrices(prepared, color))
    return factors + std::max(computing, writing);
  const std::size_t restoring = matrices * (1 + outputs) + image * outputs;
  return factors + std::max(image + std::max(computing, restoring), writing);
}

/// The factors, their arrays and the file that is made of these.
std::size_t Loader::written_factor_bytes(const ImageShape& prepared, ColorMode color) const {
  constexpr std::size_t kCopies = 3;
  if (!input_.wants_factors) return 0;
  ImageShape shape = matrices_shape(prepared, color);
  shape.depth = prepared.depth;
  int rank = 1;
  const auto include = [&](const RankPolicy& resolved) {
    rank = std::max(rank, max_rank(resolved, shape.rows, shape.cols));
  };
  for (const RankPolicy& policy : ranks_) include(resolve(policy, shape, input_.chroma_rank));
  if (input_.chroma_rank) include(resolve(*input_.chroma_rank, shape));
  return kCopies * std::size_t(shape.channels) * factor_bytes(shape.rows, shape.cols, rank);
}

void Loader::check_factors_suffice(const ImageShape& shape) const {
  const auto refuse = [](const std::string& setting) {
    throw ItemError(FailureReason::unsupported, "factors have no pixels for " + setting);
  };
  const Preparation& preparation = preparer_.preparation();
  if (!input_.why_no_factors.empty()) refuse(input_.why_no_factors);
  if (preparation.gray && shape.channels > 1) refuse("gray");
  if (preparation.size.is_set()) refuse("input.size");
  if (preparation.normalize != Normalization::none) refuse("input.normalize");
}

/// One reservation covers everything the item needs. If items held some bytes while they waited for
/// more, they could deadlock.
std::size_t Loader::bytes_to_reserve(const WorkItem& item, std::size_t file_bytes,
                                     const codec::Header& header) const {
  ImageShape rotated = header.shape;  // if EXIF orientation swaps rows and columns
  std::swap(rotated.rows, rotated.cols);
  // The color mode of factors is known when they are decoded; this one needs the most memory.
  const ColorMode color = header.factor_bytes > 0 ? ColorMode::ycbcr : input_.color;
  std::size_t bytes = file_bytes + header.max_decode_bytes;
  for (const ImageShape& shape : {header.shape, rotated}) {
    const ImageShape prepared = prepared_shape(shape, preparer_.preparation());
    const auto alpha_bytes = [&](const ImageShape& image) {
      return header.may_have_alpha ? codec::alpha_shape(image).bytes() : 0;
    };
    bytes = std::max({bytes, preparer_.memory_bytes(shape) + alpha_bytes(shape),
                      resident_bytes(item, prepared, color) + alpha_bytes(prepared)});
  }
  return bytes + header.max_metadata_bytes + header.factor_bytes + kept_factor_bytes(item) +
         encoded_bytes(item, file_bytes);
}

bool Loader::may_be_left_undecoded(const WorkItem& item, const codec::Codec& codec,
                                   const codec::Header& header) const {
  return input_.needs_no_pixels && codec.read_undecoded && !item.kept_factors && !item.is_suspect &&
         preparer_.preparation() == Preparation() &&
         (header.shape.channels == 1 || input_.color == ColorMode::channels);
}

/// Returns a picture without pixels if the backend decodes the file. `bytes` are then moved.
std::optional<Picture> Loader::leave_undecoded(WorkItem& item, ByteBuffer& bytes,
                                               const codec::Codec& codec) const {
  if (!item.undecoded_format) return std::nullopt;
  std::optional<codec::UndecodedPicture> undecoded = codec.read_undecoded(bytes, limits_);
  if (!undecoded) {
    item.undecoded_format.reset();
    return std::nullopt;
  }
  item.task.encoded_input = std::make_shared<const compute::EncodedInput>(
      std::move(bytes), std::move(undecoded->encoded),
      [&codec, limits = limits_](std::span<const std::byte> file) {
        return codec.decode(file, limits).pixels;
      });
  return std::move(undecoded->picture);
}

Picture Loader::decode(WorkItem& item, ByteBuffer bytes, const codec::Codec& codec,
                       LoadContext& context) const {
  item.input_bytes = std::int64_t(bytes.size());
  if (item.needs_content_hash) item.content_hash = io::content_hash(bytes);
  if (auto picture = leave_undecoded(item, bytes, codec)) return std::move(*picture);
  const Instant begin = Clock::now();
  Picture picture = codec.decode(bytes, limits_);
  if (codec.read_undecoded) context.add_decoded(codec.format, bytes.size(), Clock::now() - begin);
  codec::apply_alpha_policy(picture, input_.alpha);
  return picture;
}

/// Frees the file's bytes before it returns.
Picture Loader::decode(WorkItem& item, const io::InputFile& file, const codec::Codec& codec,
                       const codec::Header& header, LoadContext& context) const {
  ByteBuffer bytes = file.read_all(limits_.file_mb);
  // The reservation was made for this header.
  if (codec::admit(codec, bytes, limits_) != header)
    throw ItemError(FailureReason::corrupt, "the file changed while it was read");
  return decode(item, std::move(bytes), codec, context);
}

void Loader::warn_of_jpeg_noise(const WorkItem& item, ImageFormat format) {
  const auto policy = std::ranges::find_if(ranks_, assumes_white_noise);
  if (format != ImageFormat::jpeg || policy == ranks_.end() || has_warned_of_noise_.exchange(true))
    return;
  spdlog::warn("{}: rank {} expects white noise, but {} (logged once)",
               text::printable(item.file.native()), to_string(*policy), kJpegNoise);
}

void Loader::log_full_rank(const WorkItem& item) {
  const int full = std::min(item.matrices_shape.rows, item.matrices_shape.cols);
  const auto is_rank = [](const RankPolicy& policy) {
    return policy.kind == RankPolicy::Kind::rank;
  };
  const std::optional<RankPolicy>& chroma = item.task.chroma_rank;
  if (chroma && !(is_rank(*chroma) && chroma->value >= full)) return;  // no output is a copy
  for (const RankPolicy& policy : ranks_) {
    const bool is_above = is_rank(policy) && policy.value > full;
    if (!is_above || logged_.exchange(true)) continue;
    spdlog::info(
        "{}: rank {} is above min(rows, cols) = {}; the output is a copy of the input (logged "
        "once)",
        text::printable(item.file.native()), to_string(policy), full);
  }
}

}  // namespace eckart::pipeline
