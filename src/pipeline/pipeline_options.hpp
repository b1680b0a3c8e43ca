#pragma once

#include <chrono>
#include <cstddef>

#include "core/round_up.hpp"
#include "pipeline/step_limits.hpp"

namespace eckart::pipeline {

struct PipelineOptions {
  int load_threads = 1;   ///< at the start
  int write_threads = 1;  ///< at the start
  /// Threads are added up to these numbers while that makes the stage faster; 0: the number is
  /// fixed.
  int max_load_threads = 0;
  int max_write_threads = 0;
  int cores = 1;  ///< that the process may use; for the number of threads
  std::size_t budget_bytes;
  int pad_multiple = kDefaultPadMultiple;  ///< rows and columns are padded up to a multiple of this
  std::chrono::milliseconds linger;        ///< how long a batch waits for more images
  /// How much longer it waits while other batches wait for a lane.
  std::chrono::milliseconds extra_linger{0};
  int publish_group_files = 32;  ///< files published together, or more if an item has more
  /// A group that took at least this time is recorded at once, and not with the next group: after a
  /// kill, outputs that are not recorded are made again.
  std::chrono::milliseconds max_unrecorded{100};
  bool wait_for_space = false;  ///< wait for disk space instead of ending the run
  std::chrono::milliseconds space_poll_interval{1000};  ///< between two attempts
  std::size_t found_queue_capacity = 256;               ///< files waiting to be loaded
  int max_attempts = 10;  ///< to load an image, or to write its outputs, if no descriptors are left
  StepLimits limits;
};

}  // namespace eckart::pipeline
