#pragma once

#include <span>
#include <vector>

namespace eckart::analysis {

/// The squared error ||A - A_k||^2 of the truncated SVD at every rank k from 0 to n, which is the
/// sum of sigma_i^2 over i > k (Eckart and Young, 1936). `singular_values`: all n, descending; they
/// are added from the smallest on.
std::vector<double> squared_errors(std::span<const double> singular_values);

}  // namespace eckart::analysis
