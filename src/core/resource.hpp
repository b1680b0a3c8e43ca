#pragma once

#include <optional>
#include <string_view>

#include "core/outcome.hpp"

namespace eckart {

/// What may limit the rate: what all stages share, or the threads of one stage.
enum class Resource { cores, gpu, disk, source, load, batch, compute, write };

/// Cores and GPUs are saturated from this share of their time on.
constexpr double kSaturationThreshold = 0.9;

constexpr Resource resource_of(Stage stage) { return Resource(int(Resource::source) + int(stage)); }
static_assert(resource_of(Stage::write) == Resource::write);

/// The stage whose threads they are; none for what all stages share.
constexpr std::optional<Stage> stage_of(Resource resource) {
  if (resource < Resource::source) return std::nullopt;
  return Stage(int(resource) - int(Resource::source));
}

/// "cores", "GPU", "disk", or the name of the stage.
std::string_view to_string(Resource resource);

}  // namespace eckart
