#pragma once

#include <span>

#include "compute/rank_rule.hpp"

namespace eckart::compute {

/// Estimates the largest rank that a rule gives to planes of which only the leading singular values
/// are known, at least two of each. If they suffice, this is the largest chosen rank. Otherwise the
/// squared error E(k) of rank k is assumed to fall as exp(-b k^0.85) with b from the last quarter
/// of the values, which photographs come close to. At most the full rank, which is also the
/// estimate for rules that need all singular values.
int estimate_rank(const RankRule& rule, std::span<const PlaneSpectrum> planes);

/// The rank that a block of columns should cover, if this rank is estimated.
int rank_to_cover(int estimated_rank, int full_rank);

}  // namespace eckart::compute
