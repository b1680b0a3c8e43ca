#include "bench/report/sampling.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <random>

#include "bench/report/estimate.hpp"

namespace eckart::bench {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void add(Samples& samples, const std::vector<double>& times) {
  samples.times.resize(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) samples.times[i].push_back(times[i]);
}

/// Whether each first time is known as exactly as wanted.
bool are_exact(const std::vector<Samples>& all, double max_error) {
  for (const Samples& samples : all) {
    if (samples.is_measured() && estimate(samples.times.front()).relative_error() > max_error)
      return false;
  }
  return true;
}

}  // namespace

void MeasuredTimes::add(const Samples& samples, std::size_t pass) {
  if (first_call_s == 0) first_call_s = samples.first_call_s;
  if (!samples.is_measured()) return;
  passes.resize(samples.times.size());
  for (std::size_t i = 0; i < samples.times.size(); ++i) {
    passes[i].resize(pass);
    passes[i].push_back(samples.times[i]);
  }
}

std::vector<Samples> sample_in_rounds(const std::vector<TimedWork>& works,
                                      const SamplingOptions& options) {
  const std::function<double()> now = options.now ? options.now : steady_seconds;
  std::vector<Samples> all(works.size());
  std::vector<std::size_t> sampled;  // indices of works
  std::vector<bool> is_short(works.size());
  std::vector<bool> is_always_sampled = options.are_always_sampled;
  is_always_sampled.resize(works.size());
  for (std::size_t i = 0; i < works.size(); ++i) {
    options.before_work();
    const double begin = now();
    for (int calls = 1;; ++calls) {
      if (options.stop.stop_requested()) return all;
      const double call_begin = now();
      const std::vector<double> times = works[i]();
      const double seconds = now() - call_begin;
      if (calls == 1) all[i].first_call_s = seconds;
      if (times.front() > options.max_work_seconds && !is_always_sampled[i]) break;
      is_short[i] = seconds < options.repeat_below_seconds;
      const bool has_enough_calls = calls > 1 || seconds > options.one_warm_up_above_seconds;
      if (has_enough_calls && now() - begin >= options.warm_up_seconds) {
        sampled.push_back(i);
        break;
      }
    }
  }

  std::mt19937 random(1);  // the same order in every run
  const double begin = now();
  double round_begin = begin;
  for (int round = 0; round < options.max_rounds && !sampled.empty(); ++round) {
    std::shuffle(sampled.begin(), sampled.end(), random);
    for (const std::size_t i : sampled) {
      if (options.stop.stop_requested()) return all;
      options.before_work();
      if (is_short[i]) works[i]();
      add(all[i], works[i]());
    }
    const double end = now(), round_seconds = end - round_begin;
    round_begin = end;
    if (round + 1 < options.min_rounds) continue;
    if (end - begin + round_seconds > options.max_seconds || are_exact(all, options.max_error))
      break;
  }
  return all;
}

}  // namespace eckart::bench
