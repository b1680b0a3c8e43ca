#pragma once

#include <memory>
#include <vector>

#include "compute/backend.hpp"

namespace eckart::cpu {

std::unique_ptr<Lane> make_lane(SolverKind solver, const std::vector<RankPolicy>& ranks);

}  // namespace eckart::cpu
