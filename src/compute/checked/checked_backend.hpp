#pragma once

#include <memory>

#include "compute/backend.hpp"

namespace eckart {

/// Runs everything on both backends, gives the results of `tested`, and remembers the largest
/// differences between the two; warnings() lists them.
std::unique_ptr<Backend> make_checked_backend(std::unique_ptr<Backend> tested,
                                              std::unique_ptr<Backend> reference);

}  // namespace eckart
