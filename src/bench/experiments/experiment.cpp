#include "bench/experiments/experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "text/format_number.hpp"

namespace eckart::bench {

std::size_t measure_in_passes(const ExperimentOptions& options, const std::string& title,
                              const std::vector<std::string>& sizes, const MeasureSize& measure) {
  const std::size_t count = sizes.size() * kPasses;
  std::size_t i = 0;
  for (; i < count; ++i) {
    if (options.stop.stop_requested()) break;
    const std::size_t size = i % sizes.size(), pass = i / sizes.size();
    options.print_line(fmt::format("{}pass {} of {}, {} of {}: {}",
                                   title.empty() ? "" : title + ", ", pass + 1, kPasses, size + 1,
                                   sizes.size(), sizes[size]));
    measure(size, pass);
    if (options.stop.stop_requested()) break;
  }
  return std::min(i, sizes.size());
}

void sample(const std::vector<SampledWork>& works, std::size_t pass,
            const ExperimentOptions& options) {
  constexpr int kMinRounds = 20, kMaxRounds = 100, kMaxQuickRounds = 30;  // of all passes
  constexpr double kMaxError = 0.02;
  SamplingOptions sampling;
  sampling.max_error = kMaxError * std::sqrt(double(kPasses));
  sampling.max_work_seconds = max_call_seconds(options);
  if (pass > 0) sampling.one_warm_up_above_seconds = 0.05;  // only its memory is new
  double max_seconds = options.extent == Extent::all ? 5 : 1;
  if (options.max_seconds > 0) max_seconds = options.max_seconds;
  sampling.max_seconds = max_seconds / kPasses;
  sampling.min_rounds = kMinRounds / kPasses;
  sampling.max_rounds = (options.extent == Extent::all ? kMaxRounds : kMaxQuickRounds) / kPasses;
  sampling.before_work = options.wait_until_idle;
  sampling.now = options.now;
  sampling.stop = options.stop;
  std::vector<TimedWork> timed;
  timed.reserve(works.size());
  for (const SampledWork& each : works) {
    timed.push_back(each.work);
    sampling.are_always_sampled.push_back(each.times->is_measured());
  }
  const std::vector<Samples> samples = sample_in_rounds(timed, sampling);
  if (options.stop.stop_requested()) return;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const SampledWork& each = works[i];
    each.times->add(samples[i], pass);
    if (each.not_measured->empty() && !each.times->is_measured())
      *each.not_measured = too_slow(options);
  }
}

TimedWork with_clock(TimedWork work, const ExperimentOptions& options) {
  return [work = std::move(work), read_clock = options.read_clock, calls = 0]() mutable {
    constexpr int kCallsPerReading = 8;
    constexpr double kLong_s = 1e-3;  // a reading takes less
    std::vector<double> times = work();
    if (++calls % kCallsPerReading == 0 || times.front() > kLong_s) read_clock();
    return times;
  };
}

double max_call_seconds(const ExperimentOptions& options) {
  constexpr double kSeconds = 1, kQuickSeconds = 0.5;
  if (options.max_call_seconds > 0) return options.max_call_seconds;
  return options.extent == Extent::all ? kSeconds : kQuickSeconds;
}
std::string too_slow(const ExperimentOptions& options) {
  return "takes more than " + text::format_number(max_call_seconds(options)) + " s";
}

std::string without_gpu_note(const std::string& missing, const std::string& reason) {
  return "Not measured without a GPU: " + missing + ". There is none: " + reason + ".";
}

Cell microseconds(const Estimate& seconds) {
  if (seconds.samples == 0) return {};
  return Estimate{.median = 1e6 * seconds.median,
                  .low = 1e6 * seconds.low,
                  .high = 1e6 * seconds.high,
                  .samples = seconds.samples,
                  .resolution = 1e6 * seconds.resolution};
}

Cell measured_or_empty(const Estimate& estimate) {
  return estimate.samples > 0 ? Cell(estimate) : Cell();
}

Cell percent(double share) { return share > 0 ? Cell(100 * share) : Cell(); }

html::Plot logarithmic_plot(const std::string& title, const std::string& x_label,
                            const std::string& y_label, std::vector<html::PlotSeries> lines) {
  constexpr double kMargin = 1.2, kHuge = 1e30;
  html::Plot plot{.title = title,
                  .x = {.label = x_label, .min = kHuge, .max = 0, .is_logarithmic = true},
                  .y = {.label = y_label, .min = kHuge, .max = 0, .is_logarithmic = true},
                  .series = {}};
  for (html::PlotSeries& line : lines) {
    const std::size_t needed = line.style == html::PlotSeries::Style::points ? 1 : 2;
    if (line.points.size() < needed) continue;
    for (const auto& [x, y] : line.points) {
      plot.x.min = std::min(plot.x.min, x);
      plot.x.max = std::max(plot.x.max, 1.0001 * x);
      plot.y.min = std::min(plot.y.min, y / kMargin);
      plot.y.max = std::max(plot.y.max, y * kMargin);
    }
    plot.series.push_back(std::move(line));
  }
  return plot;
}

}  // namespace eckart::bench
