#pragma once

#include <cstddef>
#include <string>

#include "core/peak_choice.hpp"
#include "pipeline/work_item.hpp"
#include "telemetry/output_measurement.hpp"

namespace eckart::pipeline {

/// Sets the peak of PSNR and SSIM, and of ranks by PSNR, for the image of the item.
void set_peak(WorkItem& item, const PeakChoice& choice);

/// The errors of the pixels of one output, over all its planes.
OutputErrors output_errors(const WorkItem& item, std::size_t output);
/// PSNR of the pixels of one output, over all its planes, in dB; infinity if they equal the input.
double output_psnr_db(const WorkItem& item, std::size_t output);
/// PSNR of the pixels in the file of one output; infinity if they equal the input, NaN if not
/// measured.
double file_psnr_db(const WorkItem& item, std::size_t output);
/// What was measured when the output was written; all unknown before.
OutputQuality quality_of(const WorkItem& item, std::size_t output);

/// The SPEC of the output's rank. Factors have those of the ranks that may have the most triplets,
/// such as "20,psnr:35".
std::string rank_spec_of(const WorkItem& item, std::size_t output);

telemetry::OutputMeasurement output_measurement(const WorkItem& item, std::size_t output);

}  // namespace eckart::pipeline
