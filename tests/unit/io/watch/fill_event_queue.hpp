#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace eckart::io {

/// Creates so many events in a watched folder that all later events are lost until the queue is
/// read. Returns "", or why it failed.
inline std::string fill_event_queue(const std::filesystem::path& folder) {
  int most = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
  if (most <= 0 || most > 200000) return "the queue holds " + std::to_string(most) + " events";
  const std::filesystem::path files[] = {folder / "x.png", folder / "y.png"};
  for (const auto& file : files) std::ofstream(file) << "x";
  for (int i = 0; i <= most; ++i) {  // alternates, because equal consecutive events are merged
    if (::chmod(files[i % 2].c_str(), 0600) != 0) return "a mode cannot be set";
  }
  return "";
}

}  // namespace eckart::io
