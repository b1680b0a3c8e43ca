#pragma once

#include <string>

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// Parts of sentences that several sentences use.
std::string machine_phrase(const Plan& plan, int cores, int gpus);  ///< 4 cores and 1 GPU
std::string format_images_per_s(double rate);
std::string format_large_count(double count);  ///< 1,234; "more than 1e15"

/// Returns the name of the setting for the threads of a stage.
std::string thread_setting_name(Stage stage);
/// Returns whether the number of servers of the resource is a setting, with the default `auto`.
bool has_thread_setting(Resource resource);

/// "its 2 cores", "its GPU", "its disk", "its 4 write threads", "its source thread"
std::string resource_with_count(const Bound& bound);
bool is_plural(const Bound& bound);
/// The name of a resource in a table: "cores", "write threads", "disk or cores".
std::string part_name(const Bound& bound, const Plan& plan);
/// The limit of a row of the rates, for a table: "cores", "disk", "threads.write=2", "not known".
std::string limit_phrase(const Prediction& at, const Plan& plan);

}  // namespace eckart::capacity
