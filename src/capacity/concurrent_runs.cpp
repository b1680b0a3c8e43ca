#include "capacity/concurrent_runs.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <span>
#include <utility>

namespace eckart::capacity {
namespace {

/// When something worked, in s.
struct Period {
  double begin = 0, end = 0;
};

struct TimedRun {
  Period period;
  ThroughputSample whole;
  std::string host;
};

/// How many periods there are at the same time.
struct Overlap {
  int most = 0;
  double any_s = 0;  ///< time with at least one
  double sum_s = 0;  ///< of all periods
};

Overlap overlap(const std::vector<Period>& periods) {
  std::vector<std::pair<double, int>> changes;  // ends before begins at the same time
  Overlap result;
  for (const Period& period : periods) {
    changes.emplace_back(period.begin, 1);
    changes.emplace_back(period.end, -1);
    result.sum_s += period.end - period.begin;
  }
  std::ranges::sort(changes);
  int count = 0;
  double since = 0;
  for (const auto& [time, change] : changes) {
    if (count > 0) result.any_s += time - since;
    count += change;
    result.most = std::max(result.most, count);
    since = time;
  }
  return result;
}

/// All of them have a time.
ConcurrentRuns sum_runs(std::span<const TimedRun> runs) {
  ConcurrentRuns all;
  std::vector<Period> periods;
  std::map<std::string, std::pair<NodeRuns, std::vector<Period>>> nodes;
  double read_bytes = 0, written_bytes = 0, files = 0;
  for (const auto& [period, whole, host] : runs) {
    periods.push_back(period);
    auto& [node, node_periods] = nodes[host];
    node_periods.push_back(period);
    ++node.runs;
    node.images += whole.images();
    all.images += whole.images();
    read_bytes += double(whole.input_bytes);
    written_bytes += double(whole.output_bytes);
    files += double(whole.images() + whole.done);
  }
  const Overlap together = overlap(periods);
  all.runs = int(runs.size());
  all.most_at_once = together.most;
  const auto [first, last] = std::pair(std::ranges::min(periods, {}, &Period::begin).begin,
                                       std::ranges::max(periods, {}, &Period::end).end);
  all.elapsed_s = last - first;
  all.idle_share = 1 - together.sum_s / (together.most * all.elapsed_s);
  all.read_bytes_per_s = read_bytes / all.elapsed_s;
  all.written_bytes_per_s = written_bytes / all.elapsed_s;
  all.files_per_s = files / all.elapsed_s;
  for (auto& [host, entry] : nodes) {
    auto& [node, node_periods] = entry;
    const Overlap here = overlap(node_periods);
    node.host = host;
    node.most_at_once = here.most;
    node.busy_s = here.any_s;
    all.nodes.push_back(std::move(node));
  }
  return all;
}

}  // namespace

std::optional<double> parse_log_time(const std::string& text) {
  std::tm time{};
  double seconds = 0;
  char zone = 0;
  const int fields =
      std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%lf%c", &time.tm_year, &time.tm_mon,
                  &time.tm_mday, &time.tm_hour, &time.tm_min, &seconds, &zone);
  if (fields != 7 || zone != 'Z' || !(seconds >= 0 && seconds < 61)) return std::nullopt;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  return double(::timegm(&time)) + seconds;
}

std::optional<ConcurrentRuns> concurrent_runs(const std::vector<LoggedRun>& runs) {
  std::vector<TimedRun> timed;
  for (const LoggedRun& run : runs) {
    const std::optional<double> begin = parse_log_time(run.time);
    if (!begin) return std::nullopt;
    const ThroughputSample whole = run.whole();
    timed.push_back({{*begin, *begin + whole.elapsed_s}, whole, run.host});
  }
  std::ranges::sort(timed, {}, [](const TimedRun& run) { return run.period.begin; });
  std::optional<ConcurrentRuns> most;
  for (std::size_t first = 0, next = 0; first < timed.size(); first = next) {
    double end = timed[first].period.end;
    for (next = first + 1; next < timed.size() && timed[next].period.begin < end; ++next)
      end = std::max(end, timed[next].period.end);
    ConcurrentRuns batch = sum_runs(std::span(timed).subspan(first, next - first));
    if (batch.most_at_once > 1 && (!most || batch.images > most->images)) most = std::move(batch);
  }
  return most;
}

}  // namespace eckart::capacity
