#include "telemetry/throughput_log.hpp"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>
#include <stdio_ext.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <utility>

#include "core/printable.hpp"

namespace eckart::telemetry {
namespace {

using RotatingFile = spdlog::sinks::rotating_file_sink_st;

/// As a full disk and a process that was killed leave it.
bool ends_within_a_line(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  return file && file.tellg() > 0 && file.seekg(-1, std::ios::end) && file.get() != '\n';
}

/// What could not be written is not written later: who wrote it was told so.
spdlog::file_event_handlers begin_each_with(const std::string& head,
                                            const std::shared_ptr<bool>& fails) {
  spdlog::file_event_handlers events;
  events.before_close = [fails](const spdlog::filename_t&, std::FILE* file) {
    if (*fails) ::__fpurge(file);
  };
  events.after_open = [head](const spdlog::filename_t& path, std::FILE* file) {
    if (::flock(::fileno(file), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      spdlog::warn(
          "{}: another process writes to this throughput log, too; of two that rename it "
          "lines are lost",
          printable(path));
    std::fputs(((ends_within_a_line(path) ? "\n" : "") + head + "\n").c_str(), file);
  };
  return events;
}

}  // namespace

ThroughputLog::ThroughputLog(std::filesystem::path file, const Rotation& rotation, std::string head)
    : file_(std::move(file)), rotation_(rotation), head_(std::move(head)) {
  attempt([&] { open(); });
}

ThroughputLog::~ThroughputLog() = default;

void ThroughputLog::open() {
  sink_ = std::make_shared<RotatingFile>(file_.native(), std::size_t(rotation_.max_bytes),
                                         std::size_t(rotation_.keep), false,
                                         begin_each_with(head_, fails_));
  sink_->set_pattern("%v");
  sink_->flush();
}

bool ThroughputLog::write(const std::string& line) {
  return attempt([&] {
    if (!sink_) open();
    sink_->log(spdlog::details::log_msg("", spdlog::level::info, line));
    sink_->flush();
  });
}

template <class Step>
bool ThroughputLog::attempt(Step&& step) {
  try {
    step();
    told_ = false;
    return true;
  } catch (const std::exception& error) {  // spdlog's names the file
    *fails_ = true;
    sink_.reset();
    *fails_ = false;
    if (!std::exchange(told_, true))
      spdlog::warn("the throughput log cannot be written: {}", printable_message(error.what()));
    return false;
  }
}

}  // namespace eckart::telemetry
