#pragma once

#include "compute/backend.hpp"
#include "pipeline/pipeline.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// The settings in the words of those who go by them.
PipelineOptions pipeline_options(const settings::Settings& settings);
BackendOptions backend_options(const settings::Settings& settings, const Calibration& calibration);

}  // namespace eckart::app
