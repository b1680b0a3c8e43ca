#include "compute/backend.hpp"

#include <algorithm>
#include <new>

#include "core/error.hpp"
#include "core/quality.hpp"
#include "core/round_up.hpp"

namespace eckart::compute {

bool PlaneResult::is_certified(Certificate certificate) const {
  return loss_estimate_db <= kMaxLossDb &&
         (certificate == Certificate::estimate || loss_bound_db <= kMaxLossDb);
}

PaddedShape padded_shape(const ImageShape& shape, int multiple) {
  return {round_up(std::max(shape.rows, shape.cols), multiple),
          round_up(std::min(shape.rows, shape.cols), multiple)};
}

void decode_input(Task& task) {
  if (!task.encoded_input) return;
  task.input = task.encoded_input->decode();
  task.encoded_input.reset();
}

bool try_decode_input(Task& task) try {
  decode_input(task);
  return true;
} catch (const ItemError& error) {
  task.error = error.what();
  task.reason = error.reason();
  task.failed_stage = Stage::load;
  return false;
} catch (const std::bad_alloc&) {
  task.error = "not enough host memory";
  task.reason = FailureReason::out_of_memory;
  return false;
}

BatchKey batch_key(const Task& task, int multiple) {
  BatchKey key{padded_shape(task.input.shape(), multiple),
               task.ranks,
               task.chroma_rank,
               task.wants_spectrum,
               is_float(task.input.shape().depth),
               task.min_factor_rank,
               task.encoding};
  if (key.has_factor_rank()) key.ranks.emplace_back(*task.min_factor_rank);
  return key;
}

std::vector<ChannelGroup> channel_groups(int channels, bool has_chroma_rank) {
  if (!has_chroma_rank || channels == 1) return {{0, channels}};
  return {{0, 1}, {1, channels - 1}};
}

std::vector<ChannelGroup> channel_groups(const Task& task) {
  return channel_groups(task.input.shape().channels, task.chroma_rank.has_value());
}

const RankPolicy& rank_policy(const Task& task, std::size_t output, int channel) {
  return channel > 0 && task.chroma_rank ? *task.chroma_rank : task.ranks[output];
}

bool BatchKey::has_plane_ranks() const {
  return chroma_rank || !std::ranges::all_of(ranks, depends_on_shape_only);
}

int BatchKey::max_rank(std::size_t output) const {
  const auto of = [&](const RankPolicy& policy) {
    return eckart::max_rank(policy, shape.rows, shape.cols);
  };
  return chroma_rank ? std::max(of(ranks[output]), of(*chroma_rank)) : of(ranks[output]);
}

}  // namespace eckart::compute
