#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/backend.hpp"

namespace eckart::compute {

/// Chooses the ranks of the channels of a group for an output of a task with known factors; an
/// output of the kind `full` has all known triplets. Returns nullopt if these do not suffice: for a
/// task with known samples, if the choice may differ from that of a decomposition.
std::optional<std::vector<int>> choose_known_ranks(const Task& task, std::size_t output,
                                                   const ChannelGroup& group);

/// Says for messages what ranks that these factors do not suffice for need: more than they have.
std::string describe_missing_triplets(std::span<const Factors> matrices);

/// Whether the known factors of a task suffice for all that it wants.
bool do_known_factors_suffice(const Task& task);

}  // namespace eckart::compute
