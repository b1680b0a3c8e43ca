#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace eckart::logging {

/// Sets the default logger of spdlog to stderr, as `12:34:56 W message`. Log lines and the progress
/// bar do not overwrite each other. `verbosity`: -2 errors only, -1 warnings, 0 info, 1 debug, 2
/// trace.
void start_log(int verbosity);

/// Like start_log(), for a service. If stderr is the stream of the journal (`journal_stream` is
/// $JOURNAL_STREAM or empty), logs to the journal with priority and LogFields; otherwise to stderr
/// with the date.
void start_service_log(int verbosity, const std::string& journal_stream);

/// Writes these lines to the log regardless of its verbosity, because a user requested them.
void log_always(const std::string& lines);

/// While it exists, log lines of this thread have these fields in the journal. Nested objects add
/// to the fields of outer ones.
class LogFields {
 public:
  using Fields =
      std::vector<std::pair<std::string, std::string>>;  ///< name, such as ECKART_FILE, and value
  explicit LogFields(Fields fields);
  ~LogFields();
  LogFields(const LogFields&) = delete;
  LogFields& operator=(const LogFields&) = delete;

 private:
  std::size_t outer_count_;
};

}  // namespace eckart::logging
