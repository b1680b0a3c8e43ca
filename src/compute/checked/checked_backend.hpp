#pragma once

#include <memory>

#include "compute/backend.hpp"

namespace eckart::compute {

/// Computes every batch on both backends and returns the results of `tested`. warnings() reports
/// the largest differences between the two.
std::unique_ptr<Backend> make_checked_backend(std::unique_ptr<Backend> tested,
                                              std::unique_ptr<Backend> reference);

}  // namespace eckart::compute
