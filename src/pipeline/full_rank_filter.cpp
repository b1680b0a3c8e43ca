#include "pipeline/full_rank_filter.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace eckart::pipeline {
namespace {

bool is_full(const RankPolicy& policy, const ImageShape& shape) {
  return policy.k >= std::min(shape.rows, shape.cols);
}

Image copy_image(const Image& image) {
  Image copy(image.shape());
  std::memcpy(copy.data(), image.data(), image.bytes());
  return copy;
}

}  // namespace

FullRankFilter::FullRankFilter(const std::vector<RankPolicy>& ranks)
    : ranks_(ranks), reduced_ranks_{ranks} {
  while (!reduced_ranks_.back().empty()) {  // each set is the previous one without its largest rank
    std::vector<RankPolicy> rest = reduced_ranks_.back();
    rest.erase(std::max_element(rest.begin(), rest.end()));
    reduced_ranks_.push_back(std::move(rest));
  }
}

void FullRankFilter::prepare_task(WorkItem& item) const {
  const ImageShape& shape = item.task.input.shape();
  item.output_ranks = ranks_;
  item.full_rank_outputs.clear();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (is_full(ranks_[i], shape)) item.full_rank_outputs.push_back(i);
  }
  item.task.ranks = reduced_ranks_[item.full_rank_outputs.size()];
  for (std::size_t i = 0; i < item.task.ranks.size(); ++i) {
    item.task.outputs.emplace_back(shape);
    item.task.results.emplace_back(std::size_t(shape.channels));
  }
  item.is_full_rank = item.task.ranks.empty();
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
