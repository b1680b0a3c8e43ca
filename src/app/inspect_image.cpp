#include "app/inspect_image.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/comparison.hpp"
#include "analysis/display.hpp"
#include "app/read_picture.hpp"
#include "codec/codec.hpp"
#include "codec/contact_sheet.hpp"
#include "codec/output_metadata.hpp"
#include "core/error.hpp"
#include "core/stored_range.hpp"
#include "text/base64.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

/// The sides of pictures, so that all of them have at most 24 million pixels.
class PictureSize {
 public:
  explicit PictureSize(std::size_t count)
      : max_(std::min(int(std::sqrt(kSheetPixels / (2 * double(count)))), kMax)) {}
  Image fit(const Image& image) const {
    return codec::fit_image(image, std::min(kMin, max_), max_);
  }

 private:
  static constexpr double kSheetPixels = 24e6;
  static constexpr int kMin = 240, kMax = 480;
  int max_;
};

std::string shown_range_note(const analysis::DisplayRange& range) {
  return fmt::format("Pictures show the levels {:.6g} to {:.6g} as black to white.", range.black,
                     range.white);
}

/// Of JPEG, as the pipeline warns.
std::optional<std::string> noise_note(ImageFormat format,
                                      const inspection::Inspection& inspection) {
  if (format == ImageFormat::jpeg)
    return fmt::format("gd and mp expect white noise, but {}.", kJpegNoise);
  if (has_no_white_noise(inspection))
    return "gd and mp expect white noise, but the singular values show none: mp keeps all of a "
           "channel but the smallest, and what gd removes is not noise.";
  return std::nullopt;
}

std::optional<std::string> unused_bits_note(const Image& image) {
  const std::string problem = analysis::describe_unused_bits(image);
  return problem.empty() ? std::nullopt : std::optional("Peak: " + problem + ".");
}

std::string residual_caption(const RankPicture& picture) {
  return fmt::format("residual x {}", picture.residual_gain);
}

/// Encodes a picture, whose colors are those of the original, with its ICC profile.
std::vector<std::byte> encode_picture(const Image& image, const Metadata& original,
                                      const codec::Codec& codec,
                                      const EncodeOptions& options = {}) {
  Metadata metadata = codec::output_metadata(original, MetadataPolicy::icc, codec, image.shape());
  metadata.subsampling.reset();
  return codec.encode(PictureView(image, Image(), metadata), options);
}

std::string jpeg_uri(const Image& image, const Metadata& original) {
  return "data:image/jpeg;base64," +
         text::base64(
             encode_picture(image, original, codec::codec_for(OutputFormat::jpeg),
                            {.jpeg_quality = 92, .jpeg_subsampling = JpegSubsampling::k444}));
}

}  // namespace

InspectedImage inspect_image(const std::filesystem::path& file, const settings::Settings& settings,
                             bool needs_pictures) {
  const InputPicture input = read_picture(file, settings);
  const Image& image = input.picture.pixels;
  std::vector<RankPolicy> ranks = settings.ranks;
  if (ranks.empty())
    ranks = inspection::default_ranks(stored_matrices_shape(image.shape(), settings.color),
                                      settings.chroma_rank);
  InspectedImage result{
      .report = {.file = file, .format = input.format, .file_bytes = input.file_bytes},
      .metadata = input.picture.metadata};
  const analysis::DisplayRange range = analysis::display_range(image);
  if (needs_pictures && ranks.size() > kMaxPictureRanks)
    throw FatalError(ExitCode::usage,
                     fmt::format("a sheet or page shows at most {} ranks, not {}: give fewer ranks",
                                 kMaxPictureRanks, ranks.size()));
  const PictureSize size(ranks.size() + 1);
  inspection::PictureVisitor add_picture;
  if (needs_pictures) {
    result.pictures.push_back(
        {.heading = "original",
         .detail = fmt::format("{} x {} pixels", image.shape().cols, image.shape().rows),
         .image = size.fit(analysis::display_image(image, range))});
    add_picture = [&](std::size_t, const inspection::Reconstruction& of, const Image& pixels) {
      const int gain = analysis::display_residual_gain(image, pixels, range);
      result.pictures.push_back(
          {.heading = inspection::heading_text(of),
           .detail = inspection::quality_text(of),
           .image = size.fit(analysis::display_image(pixels, range)),
           .residual = size.fit(analysis::display_residual(image, pixels, range, gain)),
           .residual_gain = gain});
    };
  }
  result.report.inspection = inspection::inspect(
      image,
      {.peak = analysis::resolve_peak(settings.quality.peak, image,
                                      bits_stored(input.picture.metadata.dicom)),
       .ranks = std::move(ranks),
       .targets = inspection::common_targets(),
       .color = settings.color,
       .chroma_rank = settings.chroma_rank,
       .largest_sample = largest_stored_sample(input.picture.metadata, image.shape().depth)},
      add_picture);
  if (const auto note = noise_note(input.format, result.report.inspection))
    result.report.notes.push_back(*note);
  if (settings.quality.peak.source == PeakSource::automatic && !input.picture.metadata.dicom) {
    if (const auto note = unused_bits_note(image)) result.report.notes.push_back(*note);
  }
  if (needs_pictures && image.shape().depth != Depth::u8)
    result.report.notes.push_back(shown_range_note(range));
  return result;
}

std::vector<std::byte> contact_sheet(const InspectedImage& inspected, const codec::Codec& codec) {
  std::vector<codec::SheetCell> cells;
  for (const RankPicture& picture : inspected.pictures) {
    cells.push_back({.heading = picture.heading,
                     .detail = picture.detail,
                     .image = &picture.image,
                     .residual = picture.residual.empty() ? nullptr : &picture.residual,
                     .residual_caption = residual_caption(picture)});
  }
  const Image sheet =
      codec::draw_contact_sheet(text::printable(inspected.report.file.filename().native()),
                                {inspection::image_line(inspected.report),
                                 "Below each rank: its difference to the original, zero as gray"},
                                cells);
  return encode_picture(sheet, inspected.metadata, codec);
}

std::string inspection_page(const InspectedImage& inspected) {
  std::vector<inspection::PagePicture> pictures;
  for (const RankPicture& picture : inspected.pictures) {
    pictures.push_back(
        {.heading = picture.heading,
         .detail = picture.detail,
         .uri = jpeg_uri(picture.image, inspected.metadata),
         .residual_uri = picture.residual.empty() ? "" : jpeg_uri(picture.residual, {}),
         .residual_gain = picture.residual_gain});
  }
  return inspection::to_html(inspected.report, pictures);
}

}  // namespace eckart::app
