#pragma once

#include <optional>
#include <string_view>

#include "core/outcome.hpp"

namespace eckart {

/// A resource that can limit the rate. cores, gpu and disk are shared by all stages. The others are
/// the threads of one stage.
enum class Resource { cores, gpu, disk, source, load, batch, compute, write };

/// Cores or GPUs count as saturated if their utilization is at least this.
constexpr double kSaturationThreshold = 0.9;

constexpr Resource resource_of(Stage stage) { return Resource(int(Resource::source) + int(stage)); }
static_assert(resource_of(Stage::write) == Resource::write);

/// The stage that this resource belongs to, or nullopt for a shared resource.
constexpr std::optional<Stage> stage_of(Resource resource) {
  if (resource < Resource::source) return std::nullopt;
  return Stage(int(resource) - int(Resource::source));
}

/// "cores", "GPU", "disk", or the name of the stage.
std::string_view to_string(Resource resource);

}  // namespace eckart
