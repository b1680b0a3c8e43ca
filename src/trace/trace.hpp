#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace eckart::trace {

/// What a span or an event of a trace says of itself: members of a JSON object.
class TraceArgs {
 public:
  TraceArgs& add(std::string_view key, std::integral auto number) {
    return add_integer(key, std::int64_t(number));
  }
  TraceArgs& add(std::string_view key, double number);
  TraceArgs& add(std::string_view key, std::string_view text);
  const std::string& members() const { return json_members_; }

 private:
  TraceArgs& add_integer(std::string_view key, std::int64_t number);
  std::string& add(std::string_view key);

  std::string json_members_;
};

/// A timeline for ui.perfetto.dev and chrome://tracing: Chrome's trace events, as a JSON array that
/// is written as it grows. docs/reference/trace.md says what is in it. Thread-safe; throws nothing
/// once it is made: where it cannot be written the log says so once, and all that follows is left
/// out.
///
/// Times are those of the steady clock. On one track a span lies in another or beside it.
class Trace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Track {
    int process, thread;
  };
  static constexpr int kHost = 1;  ///< the process that eckart is; its name is there
  enum class Flow { begins, goes_on, ends };
  using Values = std::initializer_list<std::pair<const char*, std::int64_t>>;

  /// Replaces a trace that is there; one of a process that was lost before this (`restarts` of
  /// them) goes on. Throws FatalError: cannot_create, and usage where the file is no trace.
  explicit Trace(std::filesystem::path file, int restarts = 0);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void name_process(int process, std::string_view name) noexcept;
  void name_thread(Track track, std::string_view name) noexcept;
  void span(Track track, const char* category, std::string_view name, Time begin, Time end,
            const TraceArgs& args = {}) noexcept;
  /// A span that may lie over others of its name, on no thread's track.
  void async_span(int process, const char* category, std::int64_t id, std::string_view name,
                  Time begin, Time end, const TraceArgs& args = {}) noexcept;
  /// An arrow from span to span, from one call with its category and id to the next in time: each
  /// belongs to the innermost span of the track around that time.
  void flow(Flow flow, const char* category, std::int64_t id, Track track, Time at) noexcept;
  void counter(int process, std::string_view name, Time at, Values values) noexcept;

  /// What was given until now is in the file then, and the file is whole JSON. Any number of times;
  /// nothing is taken after it.
  void close() noexcept;

 private:
  template <class Format>
  void add(Format&& format) noexcept;
  void write();
  void fail(const char* why);
  std::int64_t id_of(std::int64_t id) const { return (std::int64_t(restarts_) << 40) + id; }

  const std::filesystem::path path_;
  const int restarts_;
  std::mutex mutex_;
  int file_;                // -1: closed, or lost
  std::string buffer_;      // whole events, the file's next
  std::int64_t bytes_ = 0;  // of the file, which ends with a whole event
  Time written_at_;
};

}  // namespace eckart::trace
