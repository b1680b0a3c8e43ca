#include "capacity/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "capacity/predictions.hpp"
#include "capacity/same_work.hpp"

namespace eckart::capacity {
namespace {

/// The threads of a stage, where the setting has the same number in every run.
std::optional<int> fixed_threads(const std::vector<LoggedRun>& runs, const std::string& setting) {
  std::optional<int> common;
  for (const LoggedRun& run : runs) {
    const auto found = run.settings.find(setting);
    if (found == run.settings.end()) return std::nullopt;
    const std::string& text = found->second;
    int threads = 0;
    std::from_chars(text.data(), text.data() + text.size(), threads);
    if (threads < 1 || threads != common.value_or(threads)) return std::nullopt;
    common = threads;
  }
  return common;
}

/// By stage.
std::map<std::string, int> fixed_threads(const std::vector<LoggedRun>& runs) {
  std::map<std::string, int> fixed;
  const auto fix = [&](const char* stage, const char* setting) {
    if (const auto threads = fixed_threads(runs, setting)) fixed[stage] = *threads;
  };
  fix("load", "threads.load");
  fix("write", "threads.write");
  if (runs.front().gpus.empty()) fix("compute", "cpu.lanes");
  return fixed;
}

/// Runs whose images grew with their cores, as Gustafson has it: the rate by cores of each, of the
/// most that are in one proportion. Others may be among the runs, as `eckart bench scaling` makes
/// them.
std::vector<Point> scaled_points(const std::vector<Measured>& runs) {
  const auto images_per_core = [](const Measured& run) { return double(run.images) / run.cores; };
  std::vector<Point> most;
  for (const Measured& first : runs) {
    std::vector<Point> points;
    for (const Measured& run : runs) {
      if (std::abs(images_per_core(run) / images_per_core(first) - 1) > 0.2) continue;
      points.push_back({double(run.cores), double(run.images) / run.elapsed_s,
                        std::hypot(kRunSpread, run.rate_error)});
    }
    if (points.size() > most.size() && fit_line(points)) most = points;
  }
  return most;
}

Scaling scaling_of(const std::vector<Measured>& runs, const Model& model) {
  Scaling scaling;
  const CoreCost& cost = model.core_cost();
  scaling.is_known = cost.is_known();
  std::set<int> cores;
  for (const Measured& run : runs) {
    cores.insert(run.cores);
  }
  scaling.cores.assign(cores.begin(), cores.end());
  if (!scaling.is_known) return scaling;
  scaling.measured = fit_line(cost_points(runs, model.noise()));
  if (scaling.measured) {
    Interval& ratio = scaling.measured->ratio;
    const bool tells = ratio.high <= 1 && ratio.high >= 0;
    ratio = {std::max(0.0, ratio.value), std::max(0.0, ratio.low), ratio.high};
    if (!tells) scaling.measured.reset();
  }
  scaling.serial = cost.serial_fraction();
  const auto scaled = [&](double serial) {  // Amdahl's serial part, as a share of a run on n cores
    const double n = scaling.cores.back();
    return serial * n / (1 + serial * (n - 1));
  };
  const Interval& s = scaling.serial;
  scaling.scaled_serial = {scaled(s.value), scaled(s.low), scaled(s.high)};
  const std::vector<Point> grown = scaled_points(runs);
  if (const auto line = grown.empty() ? std::nullopt : fit_line(grown)) {
    const Interval& r = line->ratio;
    scaling.scaled_serial = {std::max(0.0, 1 - r.value), std::max(0.0, 1 - r.high),
                             std::max(0.0, 1 - r.low)};
    scaling.scaled_runs = int(grown.size());
  }
  scaling.is_scaled_known =
      scaling.scaled_runs > 0 ? scaling.scaled_serial.high <= 1 : scaling.measured.has_value();
  if (!scaling.measured) return scaling;
  for (const int n : {2, 4, 8, 16, 32, 64}) {
    const auto amdahl = [&](double serial) { return n / (1 + serial * (n - 1)); };
    scaling.speedups.push_back({n,
                                {amdahl(s.value), amdahl(s.high), amdahl(s.low)},
                                n - scaling.scaled_serial.value * (n - 1)});
  }
  return scaling;
}

/// Where runs on the same cores, or a prediction and they, differ by more than noise would.
std::vector<Contradiction> contradictions_of(const Plan& plan) {
  constexpr double kMuch = 0.15;
  std::vector<Contradiction> all;
  for (const Predicted& at : plan.predictions) {
    if (!at.measured_per_s) continue;
    std::map<std::vector<int>, std::pair<double, double>> rates;  // by threads
    double least = *at.measured_per_s, most = least;
    std::vector<Measured> there = alike(plan.runs, at.cores, at.gpus);
    const bool is_of_others = there.empty();
    if (is_of_others) there = alike(plan.others, at.cores, at.gpus);
    for (const Measured& run : there) {
      if (run.rate_error > kMuch) continue;  // its own intervals differ as much
      std::vector<int> threads;
      for (const StageDemand& stage : run.stages) threads.push_back(stage.workers);
      auto& [low, high] = rates.try_emplace(threads, run.rate_per_s, run.rate_per_s).first->second;
      low = std::min(low, run.rate_per_s);
      high = std::max(high, run.rate_per_s);
    }
    for (const auto& [threads, rate] : rates) {
      if (rate.second > (1 + kMuch) * rate.first)
        all.push_back({at.cores, 0, rate.first, rate.second, is_of_others});
    }
    const double predicted = at.rate_per_s.value;
    const bool differs = at.is_at_most ? predicted < (1 - kMuch) * least
                                       : std::abs(predicted / *at.measured_per_s - 1) > kMuch;
    if (differs) all.push_back({at.cores, predicted, least, most, is_of_others});
  }
  return all;
}

std::vector<Measured> measured_of(const std::vector<LoggedRun>& runs) {
  std::vector<Measured> measured;
  measured.reserve(runs.size());
  for (const LoggedRun& run : runs) measured.push_back(measure(run));
  return measured;
}

/// Takes the runs from it that are on other cores than are asked for.
std::vector<LoggedRun> take_others(Group& group, const std::vector<int>& from_cores) {
  if (from_cores.empty()) return {};
  const auto others = std::stable_partition(
      group.runs.begin(), group.runs.end(),
      [&](const LoggedRun& run) { return std::ranges::count(from_cores, run.cores) > 0; });
  std::vector<LoggedRun> taken(others, group.runs.end());
  group.runs.erase(others, group.runs.end());
  return taken;
}

Plan plan_of(const Group& group, const std::vector<LoggedRun>& others, const Question& question) {
  const std::vector<Measured> measured = measured_of(group.runs);
  const std::map<std::string, int> fixed = fixed_threads(group.runs);
  const Model model(measured, fixed);
  const Measured& present = model.present();
  const LoggedRun& run = *std::ranges::find(group.runs, present.run, &LoggedRun::id);
  Plan plan{.host = run.host,
            .cpu = run.cpu,
            .backend = run.backend,
            .device = run.device,
            .command = run.command,
            .settings = group.kind.settings,
            .runs = measured,
            .others = measured_of(others),
            .first_time = group.runs.front().time,
            .last_time = group.runs.back().time,
            .cores = present.cores,
            .gpus = present.gpus,
            .pixels_per_image = group.kind.pixels_per_image,
            .input_bytes_per_image = group.kind.input_bytes_per_image,
            .here = capacity_of(model),
            .present = present,
            .bounds = model.present_bounds(),
            .noise = model.noise(),
            .fixed_threads = fixed,
            .has_useless_gpus = present.gpus == 0 && !question.gpus.empty(),
            .scaling = scaling_of(measured, model)};
  plan.varies_threads = fixed.empty() && std::ranges::any_of(measured, &Measured::has_set_threads);
  plan.predicted_here = model.predict(plan.cores, plan.gpus);
  plan.twice_the_cores = model.predict(2 * plan.cores, plan.gpus);
  plan.one_more_core = model.predict(plan.cores + 1, plan.gpus);
  if (plan.gpus > 0) plan.one_more_gpu = model.predict(plan.cores, plan.gpus + 1);
  for (const Measured& other : measured) {
    if (other.cores != plan.cores || other.gpus != plan.gpus) continue;
    plan.peak_per_s = std::max(plan.peak_per_s, other.peak_per_s);
  }
  answer_question(question, model, plan);
  plan.contradictions = contradictions_of(plan);
  return plan;
}

std::int64_t images_in(const Plan& plan) {
  std::int64_t images = 0;
  for (const Measured& run : plan.runs) images += run.images;
  return images;
}

}  // namespace

std::vector<Plan> make_plans(const std::vector<LoggedRun>& runs, const Question& question) {
  std::vector<Plan> plans;
  int kinds_left_out = 0;
  for (Group& group : by_kind(runs)) {
    const std::vector<LoggedRun> others = take_others(group, question.from_cores);
    if (!group.runs.empty()) plans.push_back(plan_of(group, others, question));
    kinds_left_out += group.runs.empty();
  }
  for (Plan& plan : plans) plan.kinds_left_out = kinds_left_out;
  if (plans.empty() && !runs.empty())
    throw std::invalid_argument("none of the runs is on the cores to predict from");
  std::ranges::stable_sort(plans, std::greater<>(), images_in);
  return plans;
}

}  // namespace eckart::capacity
