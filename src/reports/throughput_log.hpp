#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace spdlog::sinks {
class sink;
}

namespace eckart::reports {

struct LogRotation {
  std::int64_t max_bytes = std::int64_t(64) << 20;  ///< of a file
  int max_backups = 4;  ///< files besides the one that is written: of t.log, t.1.log is the latest
};

/// A file to which lines are added, and which makes place for a new one when it is full. Where it
/// cannot be written the log says so, once until it can. For one thread.
class ThroughputLog {
 public:
  /// `head`: the first line of each file, and the next of the one that is there. It comes again
  /// after what could not be written.
  ThroughputLog(std::filesystem::path file, const LogRotation& rotation, std::string header);
  ~ThroughputLog();
  ThroughputLog(const ThroughputLog&) = delete;
  ThroughputLog& operator=(const ThroughputLog&) = delete;

  /// `line` has no newline. Whether it is with the system; where not, it isn't kept.
  bool write(const std::string& line);

 private:
  void open();
  template <class Step>
  bool attempt(Step&& step);

  const std::filesystem::path file_;
  const LogRotation rotation_;
  const std::string header_;
  bool has_warned_ = false;
  const std::shared_ptr<bool> discards_on_close_ = std::make_shared<bool>(false);
  std::shared_ptr<spdlog::sinks::sink> sink_;  // none where it cannot be written
};

}  // namespace eckart::reports
