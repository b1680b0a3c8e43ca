#include "compute/task_rank_rule.hpp"

namespace eckart::compute {

RankRule make_rank_rule(const Task& task, std::size_t output, int channel) {
  RankRule rule = make_rank_rule(rank_policy(task, output, channel), task.input.shape(), task.peak,
                                 task.rounding_step);
  for (const ChannelGroup& group : channel_groups(task)) {
    if (channel >= group.first) rule.channels = group.count;
  }
  return rule;
}

}  // namespace eckart::compute
