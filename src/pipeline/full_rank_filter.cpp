#include "pipeline/full_rank_filter.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace eckart::pipeline {
namespace {

bool is_full(const RankPolicy& resolved, const ImageShape& shape) {
  return resolved.kind == RankPolicy::Kind::rank &&
         resolved.value >= std::min(shape.rows, shape.cols);
}

/// Values in levels of the image become values in levels of its matrices.
RankPolicy scale_levels(RankPolicy policy, double scale) {
  using Kind = RankPolicy::Kind;
  if (policy.kind == Kind::rmse || policy.kind == Kind::gavish_donoho) policy.value *= scale;
  return policy;
}

Image copy_image(const Image& image) {
  Image copy(image.shape());
  std::memcpy(copy.data(), image.data(), image.bytes());
  return copy;
}

}  // namespace

void prepare_task(WorkItem& item, std::span<const RankPolicy> ranks,
                  const std::optional<RankPolicy>& chroma_rank, bool wants_factors) {
  compute::Task& task = item.task;
  const ImageShape& shape = item.matrices_shape;
  ImageShape stored = shape;  // what counts for a rank by the bytes of the image
  stored.depth = item.image_shape.depth;
  const int scale = matrices_scale(item.image_shape, item.color);
  task.peak = scale * peak(item.image_shape.depth);
  const bool has_known_pixels = item.has_known_pixels();
  const auto to_levels = [&](const RankPolicy& policy) {
    const bool is_all_known = !has_known_pixels && policy.kind == RankPolicy::Kind::full;
    return is_all_known ? policy : scale_levels(resolve(policy, stored), scale);
  };
  task.chroma_rank.reset();
  if (item.color == ColorMode::ycbcr && chroma_rank) task.chroma_rank = to_levels(*chroma_rank);
  const bool is_chroma_full = !task.chroma_rank || is_full(*task.chroma_rank, shape);
  item.output_ranks = ranks;
  item.full_rank_outputs.clear();
  task.ranks.clear();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankPolicy resolved = to_levels(ranks[i]);
    if (has_known_pixels && is_full(resolved, shape) && is_chroma_full) {
      item.full_rank_outputs.push_back(i);
      continue;
    }
    task.ranks.push_back(resolved);
    task.outputs.emplace_back(shape);
    task.results.emplace_back(std::size_t(shape.channels));
  }
  const int factor_rank = item.full_rank_outputs.empty() ? 0 : std::min(shape.rows, shape.cols);
  task.min_factor_rank = wants_factors ? std::optional(factor_rank) : std::nullopt;
  item.is_full_rank = task.ranks.empty() && !wants_factors;
  if (item.is_full_rank) add_full_rank_outputs(item);
}

void add_full_rank_outputs(WorkItem& item) {
  compute::Task& task = item.task;
  const ImageShape& shape = task.input.shape();
  const compute::PlaneResult exact{
      .rank = std::min(shape.rows, shape.cols), .energy = 1, .loss_bound_db = 0};
  for (const std::size_t i : std::exchange(item.full_rank_outputs, {})) {  // ascending
    task.outputs.insert(std::next(task.outputs.begin(), std::ptrdiff_t(i)), copy_image(task.input));
    task.results.insert(std::next(task.results.begin(), std::ptrdiff_t(i)),
                        std::vector(std::size_t(shape.channels), exact));
  }
}

}  // namespace eckart::pipeline
