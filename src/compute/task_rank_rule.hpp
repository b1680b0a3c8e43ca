#pragma once

#include <cstddef>

#include "compute/backend.hpp"
#include "compute/rank_rule.hpp"

namespace eckart::compute {

/// The rule of an output for the channel group that this channel is in, see channel_groups(). An
/// error is that of the whole image if the other groups are exact.
RankRule make_rank_rule(const Task& task, std::size_t output, int channel);

}  // namespace eckart::compute
