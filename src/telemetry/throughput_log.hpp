#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace spdlog::sinks {
class sink;
}

namespace eckart::telemetry {

struct Rotation {
  std::int64_t max_bytes = std::int64_t(64) << 20;  ///< of a file
  int keep = 4;  ///< files besides the one that is written: of log.jsonl, log.1.jsonl is the latest
};

/// A file to which lines are added, and which makes place for a new one when it is full. Where it
/// cannot be written the log says so, once. For one thread.
class ThroughputLog {
 public:
  /// `head`: the first line of each file, and the next of the one that is there.
  ThroughputLog(std::filesystem::path file, const Rotation& rotation, std::string head);
  ~ThroughputLog();
  ThroughputLog(const ThroughputLog&) = delete;
  ThroughputLog& operator=(const ThroughputLog&) = delete;

  /// `line` has no newline. It is with the system when this returns.
  void write(const std::string& line);

 private:
  template <class Step>
  void attempt(Step&& step);

  const std::filesystem::path file_;
  bool told_ = false;
  std::shared_ptr<spdlog::sinks::sink> sink_;  // none where it could not be opened
};

}  // namespace eckart::telemetry
