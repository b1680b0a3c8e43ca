#include "inspection/inspection.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "analysis/comparison.hpp"
#include "analysis/squared_errors.hpp"
#include "analysis/ssim.hpp"
#include "compute/backend.hpp"
#include "compute/cpu/image_decomposition.hpp"
#include "compute/rank_rule.hpp"
#include "core/quality.hpp"
#include "core/stored_range.hpp"
#include "preparation/color_matrices.hpp"

namespace eckart::inspection {
namespace {

using compute::PlaneSpectrum;
using compute::cpu::ImageDecomposition;
using preparation::RestoredImage;

std::int64_t factor_bytes(const std::vector<int>& channel_ranks, const ImageShape& shape) {
  return std::accumulate(channel_ranks.begin(), channel_ranks.end(), std::int64_t(0)) *
         triplet_bytes(shape.rows, shape.cols);
}

/// The rank of Cb and Cr, if they have their own and the shape determines it.
std::optional<int> fixed_rank(const std::optional<RankPolicy>& chroma_rank,
                              const ImageShape& matrices) {
  if (matrices.channels == 1 || !chroma_rank || !depends_on_shape_only(*chroma_rank))
    return std::nullopt;
  return choose_rank(*chroma_rank, matrices);
}

/// The matrices that the image is decomposed as.
Image matrices_of(const Image& image, ColorMode mode) {
  if (preparation::has_own_matrices(image.shape(), mode))
    return preparation::color_matrices(image, mode);
  Image copy(image.shape());
  std::memcpy(copy.data(), image.data(), image.bytes());
  return std::move(copy).reshaped(matrices_shape(image.shape(), mode));
}

/// Computes the results of one image from its spectra and pixels.
class Inspector {
 public:
  Inspector(const Image& image, const InspectionRequest& request)
      : image_(image),
        color_(image.shape().channels > 1 ? request.color : ColorMode::channels),
        peak_(request.peak.value),
        scale_(matrices_scale(image.shape(), color_)),
        chroma_rank_(request.chroma_rank),
        largest_sample_(request.largest_sample),
        matrices_(matrices_of(image, color_)),
        shape_(stored_matrices_shape(image.shape(), color_)),
        decomposition_(matrices_) {
    for (const PlaneSpectrum& spectrum : decomposition_.spectra()) {
      squared_norm_ += spectrum.squared_norm;
      squared_errors_.push_back(analysis::squared_errors(compute::singular_values(spectrum)));
    }
  }

  ColorMode color() const { return color_; }
  const ImageShape& matrices() const { return shape_; }

  /// The reconstruction of the policy, without the numbers of its pixels.
  Reconstruction choose(const RankPolicy& policy) const {
    const std::vector<PlaneSpectrum> spectra = decomposition_.spectra();
    Reconstruction result{.policy = policy, .channel_ranks = std::vector<int>(spectra.size())};
    for (const auto& [first, count] :
         compute::channel_groups(shape_.channels, chroma_rank_.has_value())) {
      const RankPolicy resolved =
          first > 0 ? resolve(*chroma_rank_, shape_) : resolve(policy, shape_, chroma_rank_);
      compute::RankRule rule = compute::make_rank_rule(scale_levels(resolved, scale_),
                                                       matrices_.shape(), scale_ * peak_, scale_);
      rule.channels = count;
      compute::choose_ranks(rule, &spectra[std::size_t(first)], count,
                            &result.channel_ranks[std::size_t(first)]);
    }
    set_spectral_quality(result);
    return result;
  }

  void compute_vectors(std::span<const Reconstruction* const> results) {
    std::vector<int> max_ranks(std::size_t(shape_.channels), 1);
    for (const Reconstruction* result : results) {
      for (std::size_t c = 0; c < max_ranks.size(); ++c)
        max_ranks[c] = std::max(max_ranks[c], result->channel_ranks[c]);
    }
    decomposition_.compute_vectors(max_ranks);
  }

  /// Reconstructs the pixels and measures them.
  Image measure(Reconstruction& result) {
    Image matrices(matrices_.shape());
    const double residual = decomposition_.reconstruct(result.channel_ranks, matrices);
    RestoredImage restored = restore(std::move(matrices), residual);
    if (largest_sample_) clamp_samples(restored.pixels, *largest_sample_);
    const Image& pixels = restored.pixels;
    const double squared_error = analysis::compare(image_, pixels).squared_error;
    result.psnr_before_rounding_db = image_psnr_db(restored.residual);
    result.psnr_db = image_psnr_db(squared_error);
    result.rmse = std::sqrt(squared_error / double(image_.shape().samples()));
    result.ssim = analysis::ssim(image_, pixels, peak_);
    return std::move(restored.pixels);
  }

  std::vector<CurvePoint> curve() const {
    std::vector<CurvePoint> points;
    for (int k = 1; k <= std::min(shape_.rows, shape_.cols); ++k) {
      Reconstruction at{.channel_ranks = std::vector<int>(std::size_t(shape_.channels), k)};
      set_spectral_quality(at);
      points.push_back({k, at.energy, at.psnr_before_rounding_db, at.factor_bytes});
    }
    return points;
  }

  std::vector<std::vector<double>> singular_values() const {
    std::vector<std::vector<double>> values;
    for (const PlaneSpectrum& spectrum : decomposition_.spectra()) {
      values.push_back(compute::singular_values(spectrum));
      for (double& value : values.back()) value /= scale_;
    }
    return values;
  }

 private:
  /// `residual` is that of the matrices.
  RestoredImage restore(Image matrices, double residual) const {
    if (!preparation::has_own_matrices(image_.shape(), color_))
      return {.pixels = std::move(matrices).reshaped(image_.shape()), .residual = residual};
    RestoredImage restored = preparation::restore_colors(image_, matrices_, matrices, color_);
    if (color_ == ColorMode::luma)  // without the rounding of luma
      restored.residual = image_.shape().channels * residual / (scale_ * scale_);
    return restored;
  }

  double image_psnr_db(double squared_error) const {
    return eckart::psnr_db(squared_error, image_.shape().samples(), peak_);
  }

  void set_spectral_quality(Reconstruction& result) const {
    double squared_error = 0;
    for (std::size_t c = 0; c < squared_errors_.size(); ++c)
      squared_error += squared_errors_[c][std::size_t(result.channel_ranks[c])];
    result.energy = squared_norm_ > 0 ? std::clamp(1 - squared_error / squared_norm_, 0.0, 1.0) : 1;
    result.psnr_before_rounding_db =
        eckart::psnr_db(squared_error, shape_.samples(), scale_ * peak_);
    result.factor_bytes = factor_bytes(result.channel_ranks, shape_);
  }

  const Image& image_;
  const ColorMode color_;
  const double peak_, scale_;  // levels of the matrices are scale_ levels of the image
  const std::optional<RankPolicy> chroma_rank_;
  const std::optional<int> largest_sample_;
  const Image matrices_;
  const ImageShape shape_;  // of the matrices, with the depth of the image
  ImageDecomposition decomposition_;
  double squared_norm_ = 0;
  std::vector<std::vector<double>> squared_errors_;  // by channel and rank
};

}  // namespace

int Reconstruction::rank() const { return *std::ranges::max_element(channel_ranks); }

Inspection inspect(const Image& image, const InspectionRequest& request,
                   const PictureVisitor& visit) {
  Inspector inspector(image, request);
  Inspection result{.shape = image.shape(),
                    .color = inspector.color(),
                    .matrices = inspector.matrices(),
                    .peak = request.peak,
                    .chroma_rank = fixed_rank(request.chroma_rank, inspector.matrices()),
                    .singular_values = inspector.singular_values(),
                    .curve = inspector.curve()};
  result.break_even_rank = break_even_rank(result.matrices, result.chroma_rank);
  for (const RankPolicy& policy : request.ranks) result.ranks.push_back(inspector.choose(policy));
  for (const RankPolicy& policy : request.targets)
    result.targets.push_back(inspector.choose(policy));
  std::vector<const Reconstruction*> all;
  for (const Reconstruction& each : result.ranks) all.push_back(&each);
  for (const Reconstruction& each : result.targets) all.push_back(&each);
  inspector.compute_vectors(all);
  for (std::size_t i = 0; i < result.ranks.size(); ++i) {
    const Image pixels = inspector.measure(result.ranks[i]);
    if (visit) visit(i, result.ranks[i], pixels);
  }
  for (Reconstruction& target : result.targets) inspector.measure(target);
  return result;
}

bool has_no_white_noise(const Inspection& inspection) {
  const int full = std::min(inspection.matrices.rows, inspection.matrices.cols);
  return full > 2 && std::ranges::any_of(inspection.targets, [&](const Reconstruction& target) {
           return target.policy.kind == RankPolicy::Kind::marchenko_pastur &&
                  target.rank() >= full - 1;
         });
}

int break_even_rank(const ImageShape& matrices, std::optional<int> chroma_rank) {
  const int rank = choose_rank({RankPolicy::Kind::bytes, 100}, matrices, chroma_rank);
  const std::int64_t bytes = triplet_count(matrices.channels, rank, chroma_rank) *
                             triplet_bytes(matrices.rows, matrices.cols);
  return bytes <= std::int64_t(matrices.bytes()) ? rank : 0;
}

std::vector<RankPolicy> default_ranks(const ImageShape& matrices,
                                      const std::optional<RankPolicy>& chroma_rank) {
  std::vector<RankPolicy> ranks{1};
  const int half = std::min(matrices.rows, matrices.cols) / 2;
  for (int power = 1; power <= half; power *= 10) {
    for (const int factor : {1, 2, 5}) {
      if (factor * power <= half) ranks.emplace_back(factor * power);
    }
  }
  const int break_even = break_even_rank(matrices, fixed_rank(chroma_rank, matrices));
  if (break_even > 0) ranks.emplace_back(break_even);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::vector<RankPolicy> common_targets() {
  using Kind = RankPolicy::Kind;
  return {{Kind::energy, 0.9},        {Kind::energy, 0.99}, {Kind::energy, 0.999},
          {Kind::psnr, 30},           {Kind::psnr, 35},     {Kind::psnr, 40},
          {Kind::bytes, 25},          {Kind::bytes, 50},    {Kind::gavish_donoho, 0},
          {Kind::marchenko_pastur, 0}};
}

std::string channel_ranks_text(const Reconstruction& result) {
  const std::vector<int>& ranks = result.channel_ranks;
  std::string text = std::to_string(ranks.front());
  if (std::ranges::all_of(ranks, [&](int rank) { return rank == ranks.front(); })) return text;
  for (const int rank : std::span(ranks).subspan(1)) text += " " + std::to_string(rank);
  return text;
}

}  // namespace eckart::inspection
