#include "capacity/scaling_conclusion.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "core/student_t.hpp"
#include "text/format_count.hpp"

namespace eckart::capacity {
namespace {

double relative_half_width(const std::vector<RunMeasurement>& runs) {
  if (runs.size() < 2) return std::numeric_limits<double>::infinity();
  const double n = double(runs.size());
  double mean = 0, squares = 0;
  for (const RunMeasurement& run : runs) mean += run.rate_per_s / n;
  for (const RunMeasurement& run : runs) squares += std::pow(run.rate_per_s / mean - 1, 2);
  return student_t(runs.size() - 1) * std::sqrt(squares / (n - 1) / n);
}

std::string precision_conclusion(const Plan& plan) {
  const std::string missing = missing_precision(plan);
  const std::string bound = format_percent(kEnoughPrecision);
  if (missing.empty()) return fmt::format("rates: known within {}", bound);
  return fmt::format(
      "rates: not known within {}: {}. Other programs or the disk disturb the runs. What to do: "
      "stop other programs, or give more time with --max-seconds",
      bound, missing);
}

std::string serial_conclusion(const Plan& plan) {
  if (!plan.scaling.is_known || !plan.scaling.measured) {
    return "serial fraction: not known: the runs kept too few cores busy. What to do: raise "
           "--seconds, or measure on more cores";
  }
  const Estimate& fraction = plan.scaling.measured->ratio;
  const std::string range = format_percent_range(fraction);
  if (fraction.low > 0)
    return fmt::format("serial fraction: {} (95 %: {})", format_percent(fraction.value), range);
  return fmt::format(
      "serial fraction: cannot be told from 0 (95 %: {}): {} cores are too few or too disturbed. "
      "What to do: measure on more cores, or raise --seconds",
      range, plan.scaling.cores.back());
}

std::string limit_conclusion(const Plan& plan) {
  if (plan.baseline.has_cpu_contention())
    return "limit: not known: other programs used the cores. What to do: stop them and repeat";
  if (plan.baseline.saturated && !plan.bounds.empty())
    return "limit: " + resource_with_count(plan.bounds.front());
  return "limit: not known: nothing was fully busy. What to do: raise --seconds, or try more "
         "threads with --set threads.load=N and --set threads.write=N";
}

}  // namespace

std::vector<RatePrecision> rate_precisions(const Plan& plan) {
  std::set<int> cores;
  for (const RunMeasurement& run : plan.runs) cores.insert(run.cores);
  std::vector<RatePrecision> all;
  for (const int count : cores) {
    const std::vector<RunMeasurement> runs = comparable_runs(plan.runs, count, plan.gpus);
    all.push_back({count, runs.size(), relative_half_width(runs)});
  }
  return all;
}

std::string missing_precision(const Plan& plan) {
  std::vector<std::string> missing;
  for (const RatePrecision& at : rate_precisions(plan)) {
    if (at.half_width <= kEnoughPrecision) continue;
    const std::string cores = text::format_count(at.cores, "core");
    missing.push_back(
        std::isfinite(at.half_width)
            ? fmt::format("{} ± {}", cores, format_percent(at.half_width))
            : fmt::format("{}: {}", cores, at.runs == 0 ? "not run" : "only one comparable run"));
  }
  return fmt::format("{}", fmt::join(missing, ", "));
}

std::vector<std::string> scaling_conclusions(const Plan& plan) {
  return {precision_conclusion(plan), serial_conclusion(plan), limit_conclusion(plan)};
}

}  // namespace eckart::capacity
