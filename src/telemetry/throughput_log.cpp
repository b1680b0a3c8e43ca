#include "telemetry/throughput_log.hpp"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <utility>

#include "core/printable.hpp"

namespace eckart::telemetry {
namespace {

using RotatingFile = spdlog::sinks::rotating_file_sink_st;

spdlog::file_event_handlers begin_each_with(const std::string& head) {
  spdlog::file_event_handlers events;
  events.after_open = [head](const spdlog::filename_t&, std::FILE* file) {
    std::fputs((head + "\n").c_str(), file);
  };
  return events;
}

}  // namespace

ThroughputLog::ThroughputLog(std::filesystem::path file, const Rotation& rotation, std::string head)
    : file_(std::move(file)) {
  attempt([&] {
    sink_ =
        std::make_shared<RotatingFile>(file_.native(), std::size_t(rotation.max_bytes),
                                       std::size_t(rotation.keep), false, begin_each_with(head));
    sink_->set_pattern("%v");
    sink_->flush();
  });
}

ThroughputLog::~ThroughputLog() = default;

void ThroughputLog::write(const std::string& line) {
  attempt([&] {
    if (!sink_) return;
    sink_->log(spdlog::details::log_msg("", spdlog::level::info, line));
    sink_->flush();
  });
}

template <class Step>
void ThroughputLog::attempt(Step&& step) {
  try {
    step();
  } catch (const std::exception& error) {  // spdlog's names the file
    if (!std::exchange(told_, true))
      spdlog::warn("the throughput log cannot be written: {}", printable(error.what()));
  }
}

}  // namespace eckart::telemetry
