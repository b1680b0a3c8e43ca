#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace eckart::io {

/// Creates so many events in a watched folder that all later events are lost until the queue is
/// read. Returns "", or why it failed.
inline std::string fill_event_queue(const std::filesystem::path& folder) {
  int max_events = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> max_events;
  if (max_events <= 0 || max_events > 200000)
    return "the queue holds " + std::to_string(max_events) + " events";
  const std::filesystem::path files[] = {folder / "x.png", folder / "y.png"};
  for (const auto& file : files) std::ofstream(file) << "x";
  // Alternates, because equal consecutive events are merged.
  for (int i = 0; i <= max_events; ++i) {
    if (::chmod(files[i % 2].c_str(), 0600) != 0) return "a mode cannot be set";
  }
  return "";
}

}  // namespace eckart::io
