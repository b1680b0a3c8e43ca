#pragma once

#include <cstddef>

#include "pipeline/work_item.hpp"
#include "telemetry/output_measurement.hpp"

namespace eckart {

/// What is known of a task's output, over its planes.
double output_psnr_db(const Task& task, std::size_t output);  ///< dB; infinity where exact
telemetry::OutputMeasurement output_measurement(const WorkItem& item, std::size_t output);

}  // namespace eckart
