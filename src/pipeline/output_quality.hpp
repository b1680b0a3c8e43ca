#pragma once

#include <cstddef>

#include "pipeline/work_item.hpp"
#include "telemetry/output_measurement.hpp"

namespace eckart::pipeline {

/// Quality of one output of a task, over all its planes.
double output_psnr_db(const compute::Task& task,
                      std::size_t output);  ///< dB; infinity if the output equals the input
telemetry::OutputMeasurement output_measurement(const WorkItem& item, std::size_t output);

}  // namespace eckart::pipeline
