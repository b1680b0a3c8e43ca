#include "trace/trace.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

#include "core/error.hpp"
#include "files/open_pipe.hpp"
#include "files/out_of_space.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::trace {
namespace {

// Perfetto and Chrome accept an array without its end, as a killed process leaves it.
constexpr std::string_view kTraceBegin =
    "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"eckart\"}}";
static_assert(Trace::kHost == 1);
constexpr std::string_view kTraceEnd = "\n]\n";

// The buffer is written when it has this size or this age.
constexpr std::size_t kBufferBytes = std::size_t(1) << 16;
constexpr std::chrono::seconds kMaxBufferTime{1};

constexpr std::size_t kTypicalEventBytes = 256;  // most events have at most this size

void append(std::string& text, std::int64_t number) {
  char digits[20];
  text.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

/// Appends `value` as a JSON string. Bytes that are not UTF-8, as in file names, are replaced.
void append_quoted(std::string& text, std::string_view value) {
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (is_plain) {
    text.append("\"").append(value).append("\"");
  } else {
    text.append(
        text::Json(std::string(value)).dump(-1, ' ', true, text::Json::error_handler_t::replace));
  }
}

/// Appends a time in microseconds, exact to the nanosecond, so that adjacent spans stay adjacent.
void append(std::string& text, std::string_view key, std::chrono::nanoseconds time) {
  const std::int64_t ns = time.count() % 1000;
  append(text.append(key), time.count() / 1000);
  append(text.append(ns < 10 ? ".00" : ns < 100 ? ".0" : "."), ns);
}

void append(std::string& text, Trace::Track track) {
  append(text.append(",\"pid\":"), track.process);
  append(text.append(",\"tid\":"), track.thread);
}

void append_event_fields(std::string& text, std::string_view name, const char* category, char phase,
                         Trace::Track track, Trace::Time at) {
  append_quoted(text.append("{\"name\":"), name);
  text.append(",\"cat\":\"").append(category).append("\",\"ph\":\"");
  text.append(1, phase).append("\"");
  append(text, track);
  append(text, ",\"ts\":", at.time_since_epoch());
}

void append_args(std::string& text, std::string_view members) {
  text.append(",\"args\":{").append(members).append("}");
}

FatalError trace_error(ExitCode code, const std::filesystem::path& file, const std::string& what) {
  return {code, "trace " + text::printable(file.native()) + what};
}

/// The offset in the file where the next event is written: 0 if the file is empty or to be
/// replaced. Throws if the file is not a trace, because a mistyped name must not cost a file.
std::int64_t append_offset(int file, bool is_continued, const std::filesystem::path& path) {
  struct stat state {};
  if (::fstat(file, &state) != 0 || !S_ISREG(state.st_mode) || state.st_size == 0) return 0;
  std::string begin(kTraceBegin.size(), '\0'), end(kTraceEnd.size(), '\0');
  if (::pread(file, begin.data(), begin.size(), 0) != ssize_t(begin.size()) || begin != kTraceBegin)
    throw trace_error(ExitCode::usage, path,
                      ": the file exists and is not a trace; choose another name");
  if (!is_continued) return 0;
  const off_t before_end = state.st_size - off_t(end.size());
  const bool has_end =
      ::pread(file, end.data(), end.size(), before_end) == ssize_t(end.size()) && end == kTraceEnd;
  return has_end ? before_end : state.st_size;
}

/// Returns -1 with errno after an error.
int open_trace(const std::filesystem::path& path) {
  std::error_code none;
  if (std::filesystem::is_fifo(path, none)) return files::open_pipe(path).release();
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

}  // namespace

std::string& TraceArgs::add(std::string_view key) {
  if (json_members_.empty()) json_members_.reserve(kTypicalEventBytes);
  return json_members_.append(json_members_.empty() ? "\"" : ",\"").append(key).append("\":");
}

TraceArgs& TraceArgs::add_integer(std::string_view key, std::int64_t number) {
  append(add(key), number);
  return *this;
}

TraceArgs& TraceArgs::add(std::string_view key, double number) {
  if (std::isfinite(number))
    add(key).append(fmt::format("{:.6g}", number));  // JSON has no NaN or infinity
  return *this;
}

TraceArgs& TraceArgs::add(std::string_view key, std::string_view text) {
  append_quoted(add(key), text);
  return *this;
}

Trace::Trace(std::filesystem::path file, int restarts)
    : path_(std::move(file)),
      restarts_(restarts),
      file_(open_trace(path_)),
      written_at_(Clock::now()) {
  if (file_ < 0) {
    const int error = errno;
    const FatalError failure =
        trace_error(ExitCode::cannot_create, path_,
                    " cannot be created: " + files::open_error_text(path_, error));
    files::throw_if_out_of_space(error, failure.what());
    throw failure;
  }
  try {
    bytes_ = append_offset(file_, restarts_ > 0, path_);
  } catch (...) {
    ::close(file_);
    throw;
  }
  static_cast<void>(::ftruncate(file_, bytes_));  // fails on a pipe, which has no length
  static_cast<void>(::lseek(file_, bytes_, SEEK_SET));
  if (bytes_ == 0) buffer_.append(kTraceBegin);
}

Trace::~Trace() { close(); }

/// Adds the event that `format` writes without the closing brace.
template <class Format>
void Trace::add(Format&& format) noexcept {
  try {
    std::string text;
    text.reserve(2 * kTypicalEventBytes);
    format(text);
    const std::lock_guard lock(mutex_);
    if (file_ < 0) return;
    buffer_.append(",\n").append(text).append("}");
    const bool is_due = Clock::now() - written_at_ > kMaxBufferTime;
    if (is_due || buffer_.size() >= kBufferBytes) write();
  } catch (const std::exception&) {  // out of memory: the event is dropped
  }
}

void Trace::name_process(int process, std::string_view name) noexcept {
  add([&](std::string& text) {
    append(text.append("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":"), process);
    append_args(text, TraceArgs().add("name", name).members());
  });
}

void Trace::name_thread(Track track, std::string_view name) noexcept {
  const auto add_metadata = [&](const char* what, const TraceArgs& args) {
    add([&](std::string& text) {
      text.append("{\"name\":\"").append(what).append("\",\"ph\":\"M\"");
      append(text, track);
      append_args(text, args.members());
    });
  };
  add_metadata("thread_name", TraceArgs().add("name", name));
  add_metadata("thread_sort_index", TraceArgs().add("sort_index", track.thread));
}

void Trace::span(Track track, const char* category, std::string_view name, Time begin, Time end,
                 const TraceArgs& args) noexcept {
  add([&](std::string& text) {
    append_event_fields(text, name, category, 'X', track, begin);
    append(text, ",\"dur\":", std::max(end - begin, Time::duration::zero()));
    if (!args.members().empty()) append_args(text, args.members());
  });
}

void Trace::async_span(int process, const char* category, std::int64_t id, std::string_view name,
                       Time begin, Time end, const TraceArgs& args) noexcept {
  const auto add_event = [&](char phase, Time at, const std::string& members) {
    add([&](std::string& text) {
      append_event_fields(text, name, category, phase, {process, process}, at);
      append(text.append(",\"id\":"), unique_id(id));
      append_args(text, members);
    });
  };
  add_event('b', begin, args.members());
  add_event('e', std::max(begin, end), {});
}

void Trace::flow(Flow flow, const char* category, std::int64_t id, Track track, Time at) noexcept {
  add([&](std::string& text) {
    append_event_fields(text, category, category, "stf"[int(flow)], track, at);
    append(text.append(",\"id\":"), unique_id(id));
    if (flow == Flow::end) text.append(",\"bp\":\"e\"");
  });
}

void Trace::counter(int process, std::string_view name, Time at, Values values) noexcept {
  add([&](std::string& text) {
    append_event_fields(text, name, "counter", 'C', {process, process}, at);
    TraceArgs args;
    for (const auto& [key, value] : values) args.add(key, value);
    append_args(text, args.members());
  });
}

void Trace::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (file_ < 0) return;
  try {
    buffer_.append(kTraceEnd);
    write();
  } catch (const std::exception& error) {
    stop_writing(error.what());
  }
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

/// Writes the whole buffer; after an error the file is truncated to whole events.
void Trace::write() {
  written_at_ = Clock::now();
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return stop_writing(std::strerror(errno));
    rest.remove_prefix(std::size_t(written));
  }
  bytes_ += std::int64_t(buffer_.size());
  buffer_.clear();
}

/// Stops writing and keeps the events in the file. The end of the array is only a few bytes, which
/// may fit where the buffer did not.
void Trace::stop_writing(const char* reason) {
  spdlog::warn("trace {}: writing stopped: {}", text::printable(path_.native()), reason);
  if (::ftruncate(file_, bytes_) == 0 && bytes_ > 0)
    static_cast<void>(::pwrite(file_, kTraceEnd.data(), kTraceEnd.size(), bytes_));
  ::close(std::exchange(file_, -1));
  buffer_ = {};
}

}  // namespace eckart::trace
