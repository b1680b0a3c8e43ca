#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "io/publication.hpp"

namespace eckart::pipeline {

struct WorkItem;

/// The owner of an output folder. It checks that the folder was not moved, decides what may be
/// replaced in it, and records what is published. app::Job implements it. All functions are
/// thread-safe.
class OutputOwner {
 public:
  virtual ~OutputOwner() = default;

  /// Throws EnvironmentError if the output folder was moved or replaced.
  virtual void check_in_place() const = 0;
  /// Decides what to do with an existing file at the path of an output; `written` is the new file,
  /// which is not published yet. See io::ResolveCollision.
  virtual io::CollisionAction resolve_collision(const WorkItem& item,
                                                const std::filesystem::path& output,
                                                const std::filesystem::path& written) const = 0;
  /// Removes the publish intents of items that were not published. Throws EnvironmentError.
  virtual void abandon_intents(std::span<WorkItem* const> items) = 0;
  /// Records published, failed and skipped items, and publish intents of the items `next`, all or
  /// nothing. Throws EnvironmentError.
  virtual void record(std::span<WorkItem* const> items, std::span<WorkItem* const> next) = 0;
  /// Releases the names of the item's outputs, if other inputs may use them later.
  virtual void release_outputs(const WorkItem& item) = 0;
};

}  // namespace eckart::pipeline
