#include "pipeline/full_rank.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace eckart {
namespace {

bool is_full(const RankPolicy& policy, const ImageShape& shape) {
  return policy.k >= std::min(shape.rows, shape.cols);
}

Image copy_of(const Image& image) {
  Image copy(image.shape());
  std::memcpy(copy.data(), image.data(), image.bytes());
  return copy;
}

}  // namespace

FullRanks::FullRanks(const std::vector<RankPolicy>& ranks) : ranks_(ranks), below_{ranks} {
  while (!below_.back().empty()) {  // without the largest of the last
    std::vector<RankPolicy> rest = below_.back();
    rest.erase(std::max_element(rest.begin(), rest.end()));
    below_.push_back(std::move(rest));
  }
}

void FullRanks::fill_in(WorkItem& item) const {
  const ImageShape& shape = item.task.input.shape();
  item.full_ranks.clear();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (is_full(ranks_[i], shape)) item.full_ranks.push_back(i);
  }
  item.task.ranks = below_[item.full_ranks.size()];
  for (std::size_t i = 0; i < item.task.ranks.size(); ++i) {
    item.task.outputs.emplace_back(shape);
    item.task.results.emplace_back(std::size_t(shape.channels));
  }
  item.computed = item.task.ranks.empty();
  if (item.computed) add_full_rank_outputs(item);
}

void add_full_rank_outputs(WorkItem& item) {
  Task& task = item.task;
  const ImageShape& shape = task.input.shape();
  const PlaneResult exact{.rank = std::min(shape.rows, shape.cols), .energy = 1};
  for (const std::size_t i : std::exchange(item.full_ranks, {})) {  // ascending
    task.outputs.insert(std::next(task.outputs.begin(), std::ptrdiff_t(i)), copy_of(task.input));
    task.results.insert(std::next(task.results.begin(), std::ptrdiff_t(i)),
                        std::vector(std::size_t(shape.channels), exact));
  }
}

}  // namespace eckart
