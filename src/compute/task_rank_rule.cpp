#include "compute/task_rank_rule.hpp"

namespace eckart::compute {

RankRule make_rank_rule(const Task& task, std::size_t output, int channel) {
  ImageShape shape = task.input.shape();
  for (const ChannelGroup& group : channel_groups(task)) {
    if (channel >= group.first) shape.channels = group.count;
  }
  return make_rank_rule(rank_policy(task, output, channel), shape, task.peak, task.rounding_step);
}

}  // namespace eckart::compute
