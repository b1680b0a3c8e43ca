#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace eckart::logging {

/// Sets up spdlog's default logger: stderr, `12:34:56 W message`, never torn by the progress bar
/// (which it erases and redraws). `verbosity`: -2 errors only, -1 warnings, 0 info, 1 debug, 2
/// trace.
void start_log(int verbosity);

/// Likewise, to systemd's journal, with a priority and what LogFields say, where stderr leads there
/// (`journal_stream` is $JOURNAL_STREAM, or empty); else as start_log(), with the date.
void start_service_log(int verbosity, const std::string& journal_stream);

/// Writes these lines, for which somebody has asked, to where the log goes, whatever its verbosity.
void tell(const std::string& lines);

/// Fields that the log's lines of this thread have in the journal while this lives. An inner one
/// adds to those around it.
class LogFields {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;  ///< ECKART_FILE, its value
  explicit LogFields(Fields fields);
  ~LogFields();
  LogFields(const LogFields&) = delete;
  LogFields& operator=(const LogFields&) = delete;

 private:
  std::size_t outer_count_;
};

}  // namespace eckart::logging
