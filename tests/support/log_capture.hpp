#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>

namespace eckart::test {

/// Keeps the lines of the log during its lifetime, as "E message": the level and the text.
class LogCapture {
 public:
  LogCapture() {
    auto logger = std::make_shared<spdlog::logger>(
        "", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_));
    logger->set_pattern("%L %v");
    logger->set_level(spdlog::level::debug);
    spdlog::set_default_logger(std::move(logger));
  }
  ~LogCapture() { spdlog::set_default_logger(previous_); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  std::string text() const { return log_.str(); }
  void clear() { log_.str({}); }

 private:
  const std::shared_ptr<spdlog::logger> previous_ = spdlog::default_logger();
  std::ostringstream log_;
};

}  // namespace eckart::test
