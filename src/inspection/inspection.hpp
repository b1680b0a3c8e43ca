#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/color_mode.hpp"
#include "core/image.hpp"
#include "core/peak_choice.hpp"
#include "core/rank_policy.hpp"

namespace eckart::inspection {

/// The quality and size of the reconstruction that a rank policy comes to. Channels are those of
/// the matrices that the image is decomposed as.
struct Reconstruction {
  RankPolicy policy = {};
  std::vector<int> channel_ranks = {};
  double energy = 0;                   ///< share of the squared norm of all matrices that is kept
  double psnr_before_rounding_db = 0;  ///< measured; infinity if exact in float64
  double psnr_db = 0;                  ///< of the pixels; infinity if exact
  double ssim = 0;                     ///< of the pixels; NaN as analysis::ssim()
  double rmse = 0;                     ///< of the pixels, in levels
  std::int64_t factor_bytes = 0;       ///< of U, s and V in float32

  /// The largest rank of the channels.
  int rank() const;
};

/// The same rank for all channels, before rounding. Errors are those of the matrices: in
/// ColorMode::ycbcr, those of Y, Cb and Cr.
struct CurvePoint {
  int rank = 0;
  double energy = 0;
  double psnr_db = 0;  ///< infinity also if the values that are left are too small to be computed
  std::int64_t factor_bytes = 0;
};

/// What an image comes to at each rank.
struct Inspection {
  ImageShape shape;
  ColorMode color = ColorMode::channels;  ///< channels, if the image is gray
  ImageShape matrices;                    ///< stored_matrices_shape()
  Peak peak;
  /// Of Cb and Cr, if they have a rank of their own that the shape determines.
  std::optional<int> chroma_rank = {};
  /// The largest rank whose factors need no more bytes than `matrices`; 0 if rank 1 needs more. If
  /// `chroma_rank` is set, that of Y.
  int break_even_rank = 0;
  std::vector<Reconstruction> ranks = {}, targets = {};   ///< as requested
  std::vector<std::vector<double>> singular_values = {};  ///< of each channel, descending
  std::vector<CurvePoint> curve = {};                     ///< every rank, ascending
};

struct InspectionRequest {
  Peak peak;
  std::vector<RankPolicy> ranks;    ///< of which there are pictures
  std::vector<RankPolicy> targets;  ///< of which there are only numbers
  ColorMode color = ColorMode::channels;
  std::optional<RankPolicy> chroma_rank = {};  ///< of Cb and Cr in ColorMode::ycbcr
  /// Pixels are clamped to it; see largest_stored_sample().
  std::optional<int> largest_sample = {};
};

/// Receives the pixels at `ranks[index]`. The calls are in order of the index.
using PictureVisitor =
    std::function<void(std::size_t index, const Reconstruction& result, const Image& pixels)>;

/// Whether mp, of the targets, keeps all singular values of a channel but the smallest, which it
/// always takes for noise. Then the image has no white noise, as gd and mp expect it.
bool has_no_white_noise(const Inspection& inspection);

/// Decomposes the image once, completely, in float64. Each policy comes to the ranks that a run
/// chooses. Throws ItemError, std::bad_alloc.
Inspection inspect(const Image& image, const InspectionRequest& request,
                   const PictureVisitor& visit = {});

/// The ranks 1, 2, 5, 10, 20, 50 ... up to half of the full rank, and the break-even rank.
/// See Inspection::matrices and InspectionRequest::chroma_rank.
std::vector<RankPolicy> default_ranks(const ImageShape& matrices,
                                      const std::optional<RankPolicy>& chroma_rank = {});

/// Targets that are often asked for: shares of the energy, PSNR, noise thresholds.
std::vector<RankPolicy> common_targets();

/// See Inspection.
int break_even_rank(const ImageShape& matrices, std::optional<int> chroma_rank = {});

/// "47", or "47 44 51" if the ranks of the channels differ.
std::string channel_ranks_text(const Reconstruction& result);

}  // namespace eckart::inspection
