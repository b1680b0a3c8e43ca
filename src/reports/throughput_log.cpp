#include "reports/throughput_log.hpp"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>
#include <stdio_ext.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "text/printable.hpp"

namespace eckart::reports {
namespace {

using RotatingFile = spdlog::sinks::rotating_file_sink_st;

/// Whether the last line has no newline, as after a full disk or a killed process.
bool ends_mid_line(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  return file && file.tellg() > 0 && file.seekg(-1, std::ios::end) && file.get() != '\n';
}

void check_may_append(const std::filesystem::path& file, std::string_view begin) {
  std::error_code none;
  if (std::filesystem::is_fifo(file, none))
    throw std::runtime_error(file.native() + ": a pipe cannot be a throughput log");
  if (!may_append(file, begin))
    throw std::runtime_error(file.native() +
                             ": the file exists and is not a throughput log; it was not changed");
}

/// Discards buffered text when a file is closed after an error: its writer already knows that it
/// was not written.
spdlog::file_event_handlers rotation_handlers(
    const std::string& header, const std::shared_ptr<bool>& should_discard_on_close) {
  spdlog::file_event_handlers events;
  events.before_close = [should_discard_on_close](const spdlog::filename_t&, std::FILE* file) {
    if (*should_discard_on_close) ::__fpurge(file);
  };
  events.after_open = [header](const spdlog::filename_t& path, std::FILE* file) {
    if (::flock(::fileno(file), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      spdlog::warn(
          "{}: another process also writes to this throughput log; "
          "lines are lost when either process rotates it",
          text::printable(path));
    std::fputs(((ends_mid_line(path) ? "\n" : "") + header + "\n").c_str(), file);
  };
  return events;
}

}  // namespace

bool may_append(const std::filesystem::path& file, std::string_view begin) {
  constexpr std::string_view kEarlierBegin = R"({"schema":"eckart.throughput/)";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return true;
  std::ifstream stream(file, std::ios::binary);
  std::string text(std::max(begin.size(), kEarlierBegin.size()), '\0');
  stream.read(text.data(), std::streamsize(text.size()));
  text.resize(std::size_t(stream.gcount()));
  return std::ranges::any_of(std::array{begin, kEarlierBegin}, [&](std::string_view expected) {
    return text.starts_with(expected) || expected.starts_with(text);
  });
}

ThroughputLog::ThroughputLog(std::filesystem::path file, const LogRotation& rotation,
                             std::string header, std::string_view begin)
    : file_(std::move(file)), rotation_(rotation), header_(std::move(header)), begin_(begin) {
  attempt([&] { open(); });
}

ThroughputLog::~ThroughputLog() = default;

void ThroughputLog::open() {
  for (int i = 0; i <= rotation_.max_backups; ++i)  // a rotation renames and removes backups
    check_may_append(RotatingFile::calc_filename(file_.native(), std::size_t(i)), begin_);
  sink_ = std::make_shared<RotatingFile>(file_.native(), std::size_t(rotation_.max_bytes),
                                         std::size_t(rotation_.max_backups), false,
                                         rotation_handlers(header_, should_discard_on_close_));
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
    has_warned_ = false;
    return true;
  } catch (const std::exception& error) {  // the message of spdlog names the file
    *should_discard_on_close_ = true;
    sink_.reset();
    *should_discard_on_close_ = false;
    if (!std::exchange(has_warned_, true))
      spdlog::warn("cannot write the throughput log: {}", text::printable_message(error.what()));
    return false;
  }
}

}  // namespace eckart::reports
