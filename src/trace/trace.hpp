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

#include "core/instant.hpp"

namespace eckart::trace {

/// The arguments of a span or event: members of a JSON object.
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

/// A timeline for ui.perfetto.dev and chrome://tracing: trace events of Chrome as a JSON array,
/// written while the run continues. Its content: docs/reference/trace.md. Thread-safe. Only the
/// constructor throws: if the file cannot be written later, this is logged once and all further
/// events are dropped.
///
/// Times are of the steady clock. Spans of one track must be nested or disjoint.
class Trace {
 public:
  using Time = Instant;
  struct Track {
    int process, thread;
  };
  static constexpr int kHost =
      1;  ///< the process ID of eckart in the trace, which the constructor names
  enum class Flow { start, step, end };
  using Values = std::initializer_list<std::pair<const char*, std::int64_t>>;

  /// Replaces an existing trace. If `restarts`, the number of earlier processes of the run that
  /// lost their GPU, is not 0, continues the existing trace. Throws FatalError: `cannot_create`, or
  /// `usage` if the file exists and is not a trace. Throws EnvironmentError if there is no space.
  explicit Trace(std::filesystem::path file, int restarts = 0);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void name_process(int process, std::string_view name) noexcept;
  void name_thread(Track track, std::string_view name) noexcept;
  void span(Track track, const char* category, std::string_view name, Time begin, Time end,
            const TraceArgs& args = {}) noexcept;
  /// A span that belongs to no thread and may overlap others of its name.
  void async_span(int process, const char* category, std::int64_t id, std::string_view name,
                  Time begin, Time end, const TraceArgs& args = {}) noexcept;
  /// A step of an arrow that connects spans. An arrow consists of the calls with the same category
  /// and ID, in order of time. Each step belongs to the innermost span of the track at that time.
  void flow(Flow flow, const char* category, std::int64_t id, Track track, Time at) noexcept;
  void counter(int process, std::string_view name, Time at, Values values) noexcept;

  /// Writes all events and the end of the JSON array. Later events are dropped. May be called any
  /// number of times.
  void close() noexcept;

 private:
  template <class Format>
  void add(Format&& format) noexcept;
  void write();
  void stop_writing(const char* reason);
  std::int64_t unique_id(std::int64_t id) const { return (std::int64_t(restarts_) << 40) + id; }

  const std::filesystem::path path_;
  const int restarts_;
  std::mutex mutex_;
  int file_;                // -1: closed, or writing failed
  std::string buffer_;      // whole events that are not yet written
  std::int64_t bytes_ = 0;  // size of the file, which ends with a whole event
  Time written_at_;
};

}  // namespace eckart::trace
