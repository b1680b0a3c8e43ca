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
  const ImageShape stored = stored_matrices_shape(item.image_shape, item.color);
  const double scale = matrices_scale(item.image_shape, item.color);
  task.peak = scale * peak(item.image_shape.depth);
  task.rounding_step = scale;
  const bool has_known_pixels = item.has_known_pixels();
  const auto to_levels = [&](const RankPolicy& policy, const std::optional<RankPolicy>& chroma) {
    const bool is_all_known = !has_known_pixels && policy.kind == RankPolicy::Kind::full;
    return is_all_known ? policy : scale_levels(resolve(policy, stored, chroma), scale);
  };
  const std::optional<RankPolicy> chroma =
      item.color == ColorMode::ycbcr ? chroma_rank : std::nullopt;
  task.chroma_rank = chroma ? std::optional(to_levels(*chroma, {})) : std::nullopt;
  const bool is_chroma_full = !task.chroma_rank || is_full(*task.chroma_rank, shape);
  item.output_ranks = ranks;
  item.uncomputed_ranks.clear();
  task.ranks.clear();
  bool has_copies = false;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankPolicy resolved = to_levels(ranks[i], chroma);
    const bool is_copy = has_known_pixels && is_full(resolved, shape) && is_chroma_full;
    if (is_copy || !item.is_rank_needed(i)) {
      has_copies = has_copies || (is_copy && item.is_rank_needed(i));
      item.uncomputed_ranks.push_back(i);
      continue;
    }
    task.ranks.push_back(resolved);
    task.results.emplace_back(std::size_t(shape.channels));
  }
  wants_factors = wants_factors && item.needs_factors();
  const int factor_rank = has_copies ? std::min(shape.rows, shape.cols) : 0;
  task.min_factor_rank = wants_factors ? std::optional(factor_rank) : std::nullopt;
  item.skips_backend = task.ranks.empty() && !wants_factors;
  if (item.skips_backend) complete_outputs(item);
}

void allocate_outputs(compute::Task& task) {
  while (task.outputs.size() < task.ranks.size()) task.outputs.emplace_back(task.input.shape());
}

void complete_outputs(WorkItem& item) {
  compute::Task& task = item.task;
  const ImageShape& shape = task.input.shape();
  const compute::PlaneResult exact{
      .rank = std::min(shape.rows, shape.cols), .energy = 1, .loss_bound_db = 0};
  for (const std::size_t i : std::exchange(item.uncomputed_ranks, {})) {  // ascending
    const bool is_needed = item.is_rank_needed(i);
    if (is_needed) compute::decode_input(task);
    task.outputs.insert(std::next(task.outputs.begin(), std::ptrdiff_t(i)),
                        is_needed ? copy_image(task.input) : Image());
    if (!task.encoded_outputs.empty())
      task.encoded_outputs.emplace(std::next(task.encoded_outputs.begin(), std::ptrdiff_t(i)));
    task.results.insert(std::next(task.results.begin(), std::ptrdiff_t(i)),
                        std::vector(is_needed ? std::size_t(shape.channels) : 0, exact));
  }
}

}  // namespace eckart::pipeline
