#pragma once

#include "compute/backend.hpp"
#include "pipeline/pipeline.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// Convert settings to the options of a pipeline and of a backend.
pipeline::PipelineOptions pipeline_options(const settings::Settings& settings);
compute::BackendOptions backend_options(const settings::Settings& settings,
                                        const Calibration& calibration);

}  // namespace eckart::app
