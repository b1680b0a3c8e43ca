#pragma once

#include <string>

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// Parts of sentences that several sentences use.
std::string machine_phrase(const Plan& plan, int cores, int gpus);  ///< 4 cores and 1 GPU
std::string format_images_per_s(double rate);
/// 12 % more, 30 % less, 5.2 times as much
std::string headroom_phrase(double headroom);
constexpr const char* kDiskLimitUnknown =
    "these logs do not show the disk's limit: try more threads.write, another durability or a "
    "faster disk";

/// Returns the name of the setting for the threads of a stage.
std::string thread_setting_name(Stage stage);
/// Returns whether the number of servers of the resource is a setting, with the default `auto`.
bool has_thread_setting(Resource resource);

}  // namespace eckart::capacity
