#include "logging/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <sstream>
#include <string_view>
#include <utility>

#include "logging/terminal_line.hpp"
#include "text/printable.hpp"

namespace eckart::logging {
namespace {

/// The text of a message, escaped so that it stays on one line whatever names it contains.
std::string message_text(const spdlog::details::log_msg& message) {
  return text::printable_message({message.payload.data(), message.payload.size()});
}

/// Writes log lines above the progress bar.
class StderrSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string text = message_text(message);
    spdlog::details::log_msg shown = message;
    shown.payload = text;
    spdlog::memory_buf_t line;
    formatter_->format(shown, line);
    stderr_line().print_above(std::string_view(line.data(), line.size()));
  }
  void flush_() override {}
};

thread_local LogFields::Fields thread_fields;

/// Sends log lines to the journal.
class JournalSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::vector<std::string> texts{"MESSAGE=" + message_text(message),
                                   "PRIORITY=" + std::to_string(priority(message.level)),
                                   "SYSLOG_IDENTIFIER=eckart"};
    for (const auto& [name, value] : thread_fields) texts.push_back(name + "=" + value);
    std::vector<iovec> parts;
    parts.reserve(texts.size());
    for (std::string& text : texts) parts.push_back({text.data(), text.size()});
    static_cast<void>(::sd_journal_sendv(parts.data(), int(parts.size())));
  }
  void flush_() override {}

 private:
  static int priority(spdlog::level::level_enum level) {
    if (level >= spdlog::level::err) return LOG_ERR;
    if (level == spdlog::level::warn) return LOG_WARNING;
    return level == spdlog::level::info ? LOG_INFO : LOG_DEBUG;
  }
};

/// Whether the descriptor is the stream of the journal: $JOURNAL_STREAM has the device and inode of
/// the stderr of a service.
bool is_journal_stream(int descriptor, const std::string& journal_stream) {
  struct stat status {};
  return !journal_stream.empty() && ::fstat(descriptor, &status) == 0 &&
         journal_stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

spdlog::level::level_enum to_spdlog_level(int verbosity) {
  switch (std::clamp(verbosity, -2, 2)) {
    case -2:
      return spdlog::level::err;
    case -1:
      return spdlog::level::warn;
    case 1:
      return spdlog::level::debug;
    case 2:
      return spdlog::level::trace;
    default:
      return spdlog::level::info;
  }
}

void install_logger(int verbosity, const spdlog::sink_ptr& sink, const char* pattern = "%T %L %v") {
  auto logger = std::make_shared<spdlog::logger>("eckart", sink);
  logger->set_pattern(pattern);
  logger->set_level(to_spdlog_level(verbosity));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace

void start_log(int verbosity) { install_logger(verbosity, std::make_shared<StderrSink>()); }

void start_service_log(int verbosity, const std::string& journal_stream) {
  if (is_journal_stream(STDERR_FILENO, journal_stream))
    install_logger(verbosity, std::make_shared<JournalSink>());
  else
    install_logger(verbosity, std::make_shared<StderrSink>(), "%Y-%m-%d %T %L %v");
}

void log_always(const std::string& lines) {
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    const spdlog::details::log_msg message("eckart", spdlog::level::info, line);
    for (const spdlog::sink_ptr& sink : spdlog::default_logger_raw()->sinks()) sink->log(message);
  }
}

LogFields::LogFields(Fields fields) : outer_count_(thread_fields.size()) {
  for (auto& field : fields) thread_fields.push_back(std::move(field));
}

LogFields::~LogFields() { thread_fields.resize(outer_count_); }

}  // namespace eckart::logging
