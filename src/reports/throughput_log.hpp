#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog::sinks {
class sink;
}

namespace eckart::reports {

struct LogRotation {
  std::int64_t max_bytes;  ///< maximum size of a file
  int max_backups;         ///< old files that are kept: of t.log, t.1.log is the latest
};

/// How the first line of each throughput log begins.
inline constexpr std::string_view kThroughputLogBegin = R"({"kind":"run")";

/// Whether lines may be appended to `file`, of which the first line begins with `begin`: it begins
/// so (or as in earlier versions), was cut off there, is empty, does not exist, or is not a regular
/// file. Otherwise it is another file of the user.
bool may_append(const std::filesystem::path& file, std::string_view begin = kThroughputLogBegin);

/// A rotated file of lines. If it cannot be written, this is logged once, and again only after it
/// could be written. For one thread.
class ThroughputLog {
 public:
  /// `header`: written first to each file, when an existing file is opened, and again after a
  /// failure. A file that begins neither with `begin` nor as in earlier versions is not changed,
  /// which is a failure.
  ThroughputLog(std::filesystem::path file, const LogRotation& rotation, std::string header,
                std::string_view begin = kThroughputLogBegin);
  ~ThroughputLog();
  ThroughputLog(const ThroughputLog&) = delete;
  ThroughputLog& operator=(const ThroughputLog&) = delete;

  /// Writes a line; `line` has no newline. Returns false after a failure; then the line is dropped.
  bool write(const std::string& line);

 private:
  void open();
  template <class Step>
  bool attempt(Step&& step);

  const std::filesystem::path file_;
  const LogRotation rotation_;
  const std::string header_, begin_;
  bool has_warned_ = false;
  const std::shared_ptr<bool> should_discard_on_close_ = std::make_shared<bool>(false);
  std::shared_ptr<spdlog::sinks::sink> sink_;  // null after a failure
};

}  // namespace eckart::reports
