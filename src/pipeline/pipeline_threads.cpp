#include <time.h>

#include <functional>
#include <vector>

#include "flow/pause.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/thread_adaptation.hpp"

namespace eckart::pipeline {
namespace {

double process_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

}  // namespace

/// Adapts the numbers of load and write threads until `stop` is requested.
void Pipeline::adapt_threads(flow::Workers& load, flow::Workers& write,
                             const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kInterval{100};
  struct AdaptedStage {
    std::function<void(int threads)> set_threads;
    const flow::StageClock& clock;
    const telemetry::DurationRecorder& taken;  ///< images
    ThreadAdaptation adaptation;
    ThreadAdaptation::Interval begin = {};  ///< totals at the beginning of the interval

    ThreadAdaptation::Interval totals(double seconds) const {
      const flow::StageTimes times = clock.times();
      return {.seconds = seconds,
              .images = taken.read().count(),
              .busy_s = times.busy_s,
              .thread_s = times.busy_s + times.waiting_for_input_s + times.blocked_s,
              .core_s = process_cpu_s()};
    }
  };
  std::vector<AdaptedStage> adapted;
  const auto set_load_threads = [&](int threads) {
    load.set_count(threads);
    input_decoding_.set_load_threads(threads);
  };
  const auto set_write_threads = [&](int threads) { write.set_count(threads); };
  if (options_.max_load_threads > options_.load_threads)
    adapted.push_back({set_load_threads,
                       load_clock_,
                       meters_.found,
                       {options_.load_threads, options_.max_load_threads, options_.cores}});
  if (options_.max_write_threads > options_.write_threads)
    adapted.push_back({set_write_threads,
                       write_clock_,
                       meters_.finished,
                       {options_.write_threads, options_.max_write_threads, options_.cores}});
  while (!adapted.empty() && flow::pause(kInterval, stop)) {
    for (AdaptedStage& stage : adapted) {
      const ThreadAdaptation::Interval end =
          stage.totals(std::chrono::duration<double>(Clock::now() - start_).count());
      const ThreadAdaptation::Interval interval = end - stage.begin;
      if (!stage.adaptation.is_long_enough(interval)) continue;
      stage.set_threads(stage.adaptation.update(interval));
      stage.begin = end;
    }
  }
}

}  // namespace eckart::pipeline
