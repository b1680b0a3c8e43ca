#pragma once

#include <chrono>
#include <cstddef>

#include "core/round_up.hpp"
#include "pipeline/step_limits.hpp"

namespace eckart {

struct PipelineOptions {
  int load_threads = 1;
  int write_threads = 1;
  std::size_t budget_bytes;
  int pad_multiple = kDefaultPadMultiple;  ///< rows and columns are padded up to a multiple of this
  std::chrono::milliseconds linger;
  int publish_group_files = 32;  ///< files published together, or more if an item has more
  bool wait_for_space = false;   ///< instead of ending where an output finds no space left
  std::chrono::milliseconds space_poll_interval{1000};  ///< between attempts
  std::size_t found_queue_capacity = 256;               ///< files that wait to be loaded
  int max_load_attempts = 10;  ///< to open a file where the process has no descriptors left
  StepLimits limits;
};

}  // namespace eckart
