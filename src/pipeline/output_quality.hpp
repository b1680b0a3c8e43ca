#pragma once

#include <cstddef>

#include "compute/backend.hpp"

namespace eckart {

/// What is known of a task's output, over its planes.
int rank_of_output(const Task& task, std::size_t output);          ///< the largest
double psnr_of_output(const Task& task, std::size_t output);       ///< dB; infinity where exact
double most_loss_of_output(const Task& task, std::size_t output);  ///< dB, of the worst plane

}  // namespace eckart
