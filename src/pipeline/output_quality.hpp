#pragma once

#include <cstddef>

#include "pipeline/work_item.hpp"
#include "telemetry/image_report.hpp"

namespace eckart {

/// What is known of a task's output, over its planes.
double output_psnr_db(const Task& task, std::size_t output);  ///< dB; infinity where exact
telemetry::OutputLine output_line(const WorkItem& item, std::size_t output);

/// Adds what became of the item to the report.
void add_to(telemetry::ImageReport& report, const WorkItem& item);

}  // namespace eckart
