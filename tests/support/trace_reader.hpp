#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace eckart::test {

/// A parsed trace. The text must be complete JSON: append "]" to the file of a killed process.
class TraceReader {
 public:
  using Json = nlohmann::json;
  using Track = std::pair<int, int>;  ///< process, thread
  struct Span {
    Track track;
    std::string name, category;
    std::int64_t begin_ns = 0, end_ns = 0;
    Json args;
  };

  static std::string read(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  explicit TraceReader(const std::string& text) : events_(Json::parse(text)) {
    for (const Json& event : events_) {
      const std::string phase = event.at("ph");
      if (phase == "X") spans_.push_back(span_of(event));
      if (phase == "M" && event.at("name") == "thread_name")
        threads_[track_of(event)] = event.at("args").at("name");
      if (phase == "M" && event.at("name") == "process_name")
        processes_[event.at("pid")] = event.at("args").at("name");
    }
    std::stable_sort(spans_.begin(), spans_.end(),
                     [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  }
  explicit TraceReader(const std::filesystem::path& file) : TraceReader(read(file)) {}

  const Json& events() const { return events_; }
  /// Sorted by begin.
  const std::vector<Span>& spans() const { return spans_; }
  std::vector<Span> spans(const std::string& category, const std::string& name = {}) const {
    std::vector<Span> found;
    for (const Span& span : spans_) {
      if (span.category == category && (name.empty() || span.name == name)) found.push_back(span);
    }
    return found;
  }
  std::vector<std::string> thread_names() const {
    std::vector<std::string> names;
    for (const auto& [track, name] : threads_) names.push_back(name);
    return names;
  }
  const std::map<int, std::string>& process_names() const { return processes_; }
  int count(const std::string& phase, const std::string& category) const {
    return int(std::count_if(events_.begin(), events_.end(), [&](const Json& event) {
      return event.at("ph") == phase && event.value("cat", "") == category;
    }));
  }

  /// The categories of the spans that the arrow with this ID connects, in order of time. Fails if a
  /// step of it is in no span.
  std::vector<std::string> flow_path(const std::string& flow, std::int64_t id) const {
    std::vector<std::pair<std::int64_t, std::string>> steps;
    for (const Json& event : events_) {
      const std::string phase = event.at("ph");
      if ((phase != "s" && phase != "t" && phase != "f") || event.at("cat") != flow ||
          event.at("id") != id)
        continue;
      const std::int64_t at = ns_of(event.at("ts"));
      const Span* innermost = nullptr;
      for (const Span& span : spans_) {
        if (span.track == track_of(event) && span.begin_ns <= at && at < span.end_ns)
          innermost = &span;
      }
      EXPECT_TRUE(innermost) << event << " is in no span";
      if (innermost) steps.emplace_back(at, innermost->category);
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> categories;
    for (auto& step : steps) categories.push_back(std::move(step.second));
    return categories;
  }

  /// Checks that spans of one track are nested or disjoint, and that every track has a name.
  void expect_properly_nested() const {
    std::map<Track, std::vector<std::int64_t>> open;  // ends of open spans
    for (const Span& span : spans_) {
      EXPECT_TRUE(threads_.contains(span.track)) << span.name;
      auto& ends = open[span.track];
      while (!ends.empty() && ends.back() <= span.begin_ns) ends.pop_back();
      EXPECT_TRUE(ends.empty() || span.end_ns <= ends.back())
          << span.name << " overlaps another span of " << threads_.at(span.track);
      ends.push_back(span.end_ns);
    }
  }

 private:
  static Track track_of(const Json& event) { return {event.at("pid"), event.at("tid")}; }
  static std::int64_t ns_of(const Json& microseconds) {
    return std::llround(1000 * double(microseconds));
  }
  static Span span_of(const Json& event) {
    const std::int64_t begin = ns_of(event.at("ts"));
    return {track_of(event),
            event.at("name"),
            event.at("cat"),
            begin,
            begin + ns_of(event.at("dur")),
            event.value("args", Json::object())};
  }

  const Json events_;
  std::vector<Span> spans_;
  std::map<Track, std::string> threads_;
  std::map<int, std::string> processes_;
};

}  // namespace eckart::test
