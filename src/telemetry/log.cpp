#include "telemetry/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>

#include "telemetry/terminal_line.hpp"

namespace eckart::telemetry {
namespace {

/// Writes log lines above the progress bar.
class StderrSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    stderr_line().print_above(std::string_view(line.data(), line.size()));
  }
  void flush_() override {}
};

spdlog::level::level_enum level_of(int verbosity) {
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

}  // namespace

void start_log(int verbosity) {
  auto logger = std::make_shared<spdlog::logger>("eckart", std::make_shared<StderrSink>());
  logger->set_pattern("%T %L %v");
  logger->set_level(level_of(verbosity));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace eckart::telemetry
