#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "io/publication.hpp"

namespace eckart {

struct WorkItem;

/// The owner of an output folder: whether the folder is still at its place, what may be replaced
/// there, and the record of what is published. An app::Job is one. All functions may be called by
/// several threads at a time.
class OutputOwner {
 public:
  virtual ~OutputOwner() = default;

  /// Throws EnvironmentError if the folder was moved or replaced.
  virtual void check_in_place() const = 0;
  /// Records that these items are about to be published. Throws EnvironmentError.
  virtual void record_intents(std::span<WorkItem* const> items) = 0;
  /// Decides what to do if there is a file at the place of an output of the item; `written` is the
  /// new file under its temporary name. As io::ResolveConflict.
  virtual io::ConflictAction resolve_collision(const WorkItem& item,
                                               const std::filesystem::path& output,
                                               const std::filesystem::path& written) const = 0;
  /// Takes back the intents of items that were not published. Throws EnvironmentError.
  virtual void abandon_intents(std::span<WorkItem* const> items) = 0;
  /// Records items that are published, failed or skipped. Throws EnvironmentError.
  virtual void record(std::span<WorkItem* const> items) = 0;
  /// Gives the names of the item's outputs back, if other inputs may have them later.
  virtual void release_outputs(const WorkItem& item) = 0;
};

}  // namespace eckart
