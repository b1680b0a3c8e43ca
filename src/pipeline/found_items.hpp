#pragma once

#include <cstddef>
#include <vector>

#include "io/source.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/job_steps.hpp"
#include "pipeline/tally.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// The source thread measures its time, and wakes load threads, once for so many images.
inline constexpr std::size_t kMaxFoundGroup = 32;

/// Makes items of the images that a source has found at once, counts them, and assigns their
/// outputs. An item is failed if the source could not access its file, or if assign_outputs() threw
/// ItemError. `stall` is the longest time that this may take. For one thread.
std::vector<ItemPtr> make_found_items(std::vector<io::SourceItem> arrivals, JobSteps& steps,
                                      Tally& tally, Activity& activity, Activity::Duration stall);

}  // namespace eckart::pipeline
