#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/enum_names.hpp"
#include "telemetry/snapshot.hpp"

namespace eckart::status_server {

/// What a watch is doing.
enum class WatchCondition {
  watching,
  waiting_for_folder,  ///< its input folder is missing
  cannot_read_folder,  ///< its input folder
  waiting_for_mount,   ///< the file system of its output folder or of move_to is not mounted
  waiting_for_space,   ///< its output disk is full
  paused,              ///< after another environment error
};
constexpr auto enum_names(WatchCondition) {
  using enum WatchCondition;
  return std::array{EnumName<WatchCondition>{watching, "watching"},
                    EnumName<WatchCondition>{waiting_for_folder, "waiting for folder"},
                    EnumName<WatchCondition>{cannot_read_folder, "cannot read folder"},
                    EnumName<WatchCondition>{waiting_for_mount, "waiting for mount"},
                    EnumName<WatchCondition>{waiting_for_space, "waiting for disk space"},
                    EnumName<WatchCondition>{paused, "paused"}};
}

/// One watched folder of a service. Images are counted since the start of the service.
struct WatchStatus {
  std::string name, input, output;
  WatchCondition condition = WatchCondition::watching;
  std::string reason;  ///< why it is not watching; else empty
  std::int64_t done = 0, failed = 0, skipped = 0;
  std::int64_t waiting = 0;     ///< files that the pipeline does not have yet
  std::int64_t unfinished = 0;  ///< files that wait or are in the pipeline
  std::int64_t quarantine_files = 0, quarantine_bytes = 0;
  telemetry::CountsByExtension not_read;   ///< now
  std::int64_t not_read_total = 0;         ///< all that were there so far
  std::optional<std::int64_t> free_bytes;  ///< on the file system of the output folder
};

}  // namespace eckart::status_server
