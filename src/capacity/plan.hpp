#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "capacity/concurrent_runs.hpp"
#include "capacity/model.hpp"
#include "capacity/plan_request.hpp"

namespace eckart::capacity {

struct Speedup {
  int cores = 1;
  Estimate amdahl = {};
  double gustafson = 1;
};

/// How the rate grows with the number of cores.
struct ScalingAnalysis {
  bool is_known = false;        ///< false: all runs had the same number of cores
  std::vector<int> cores = {};  ///< of the runs
  /// Amdahl's law, fitted to the runs alone. None if its interval exceeds 100 %, because such runs
  /// do not determine the serial fraction.
  std::optional<LineFit> measured = {};
  Estimate serial_fraction = {};  ///< used for predictions: combines runs and prior
  /// Gustafson's serial share of a run whose work grows with its cores.
  Estimate gustafson_serial_fraction = {};
  bool is_gustafson_known = false;  ///< its interval is within 100 %
  int gustafson_runs = 0;           ///< number of fitted runs; 0: derived from Amdahl's law
  std::vector<Speedup> speedups = {};
};

struct PredictionRow : Prediction {
  /// Mean of the runs on this machine, or of held-out runs.
  std::optional<double> measured_per_s = {};
  bool is_upper_bound = false;  ///< the rate is an upper bound
};

/// Runs on the same cores with contradictory rates.
struct Contradiction {
  int cores = 1;
  double predicted_per_s = 0;            ///< 0: the runs contradict each other, not the prediction
  double low_per_s = 0, high_per_s = 0;  ///< of the runs
  bool is_held_out = false;              ///< of held-out runs, which are not used for predictions
  bool is_of_runs() const { return predicted_per_s == 0; }
};

/// The requirements of a target rate.
struct TargetResult {
  double rate_per_s = 0;
  double headroom = 0;  ///< of the capacity here: 0.2 is a fifth above the target
  std::vector<Requirement> requirements =
      {};  ///< with the current GPUs; then with more, if these do not suffice
  /// The number of machines like this one: at the expected rate, and at its lower end.
  double machines = 1, conservative_machines = 1;
};

/// A machine, or several, that a planner may choose.
struct PlanOption {
  enum class Meets { yes, no, unknown };

  std::string name = {};  ///< "this machine", "4 cores", "2 machines like this"
  double machines = 1;
  int cores = 1, gpus = 0;  ///< of each machine
  Estimate rate_per_s = {};
  bool is_lower_bound = false, is_upper_bound = false;
  std::optional<Meets> meets_target = {};  ///< none without a target
  std::optional<double> utilization = {};  ///< at the target
  std::optional<double> watts = {};        ///< if energy has a price
  std::optional<double> cost_per_month = {}, cost_per_million_images = {};  ///< if there are prices
  bool is_measured_here = true;    ///< false: from recorded figures of another machine
  std::string recorded_work = {};  ///< the work of these figures, if the plan has other work
};

/// The answers for one workload on one kind of machine.
struct Plan {
  PlanRequest request = {};
  std::string host = {}, cpu = {}, backend = {}, device = {}, command = {};
  /// For recorded figures of another machine: their work and their source.
  std::string recorded_work = {}, recorded_source = {};
  std::vector<std::string> settings = {};  ///< "rank=50"
  std::vector<RunMeasurement> runs = {};
  int omitted_workloads = 0;  ///< number of other workloads, without runs on fit_cores
  std::vector<RunMeasurement> held_out_runs =
      {};  ///< runs that PlanRequest::fit_cores excludes from predictions
  std::string first_time = {}, last_time = {};
  int cores = 1, gpus = 0;  ///< of the current machine
  double pixels_per_image = 0, input_bytes_per_image = 0;
  std::optional<double> output_bytes_per_image = {};

  /// The capacity. If a resource was saturated, it is the measured rate. For a service that was not
  /// busy, it is the lowest bound. Otherwise it is the measured rate, as a lower bound with an
  /// unknown bottleneck.
  Prediction current_capacity = {};
  RunMeasurement baseline = {};    ///< the average of the runs with the most cores
  std::vector<Bound> bounds = {};  ///< bounds of the baseline, the bottleneck first
  double noise = kRunNoise;        ///< relative difference between runs
  std::vector<Contradiction> contradictions = {};
  std::map<Stage, int> fixed_threads = {};   ///< stages with the same configured number in all runs
  bool has_unsupported_gpu_request = false;  ///< GPUs were requested, but no run used one
  ScalingAnalysis scaling = {};
  bool has_varying_threads = false;  ///< runs set different threads; the rates are for `auto`
  std::vector<PredictionRow> predictions = {};  ///< by GPUs, then by cores
  std::vector<Prediction> curve = {};  ///< with the current GPUs, to at least four times the cores
  Prediction baseline_prediction = {}, one_more_core = {};
  Prediction doubled_cores = {};
  std::optional<Prediction> one_more_gpu = {};
  std::optional<TargetResult> target = {};
  std::optional<double> images_duration_s = {};  ///< of PlanRequest::images, working all day
  std::vector<PlanOption> options = {};          ///< this machine first
  bool has_unlike_reference = false;  ///< recorded figures are for images of other sizes only
  double peak_per_s = 0;              ///< the best interval of all runs on this machine
  std::optional<ConcurrentRuns> concurrent_runs = {};  ///< none if runs were one after another

  /// Returns whether nothing was saturated although there was enough work: the capacity is then a
  /// lower bound.
  bool is_inconclusive() const { return !current_capacity.bottleneck; }
  bool is_recorded() const { return !recorded_source.empty(); }
  /// Returns whether a machine with fewer cores or GPUs is predicted to do no more than this one
  /// did. Then what limited this one does not limit it, even if it is not known.
  bool is_within_measured(int cores_of_machine, int gpus_of_machine, double rate_per_s) const {
    return cores_of_machine <= cores && gpus_of_machine <= gpus &&
           rate_per_s <= current_capacity.rate_per_s.value;
  }
  /// Returns whether the logs do not show that the disk was the limit.
  bool is_disk_guess() const { return is_inconclusive() || baseline.has_cpu_contention(); }
  /// Returns whether the cores or GPUs do not allow the rate, whatever else was the limit.
  bool is_above_hardware(double rate_per_s) const {
    return std::ranges::any_of(bounds, [&](const Bound& bound) {
      const bool is_hardware = bound.resource == Resource::cores || bound.resource == Resource::gpu;
      return is_hardware && !bound.is_lower_bound && rate_per_s > bound.rate_per_s.high;
    });
  }
  /// Returns whether the machine may do more than its capacity: the limit is not known, or is a
  /// disk that was not tried with more load.
  bool is_lower_bound() const {
    return is_inconclusive() || current_capacity.bottleneck == Resource::disk;
  }
  bool has_upper_bounds() const {
    return std::ranges::count(predictions, true, &PredictionRow::is_upper_bound) > 0;
  }
  /// Returns the rate gained by the machine of `more`: the capacity scaled by the ratio of the
  /// predictions. The gain may be 0 if a whole number of threads is the limit.
  double gain_per_s(const Prediction& more) const {
    const double ratio = more.rate_per_s.value / baseline_prediction.rate_per_s.value;
    return std::max(0.0, (ratio - 1) * current_capacity.rate_per_s.value);
  }
  /// The output of a month at the target, or at the capacity, if its size is known.
  std::optional<double> output_tb_per_month() const {
    if (!output_bytes_per_image) return std::nullopt;
    const double rate = target ? target->rate_per_s : current_capacity.rate_per_s.value;
    return 1e-12 * *output_bytes_per_image * request.images_per_month(rate);
  }
  /// Returns how much the capacity exceeds the peak rate, relative to the peak rate.
  double headroom() const { return current_capacity.rate_per_s.value / peak_per_s - 1; }
};

/// Returns a plan for each workload in the logs, the one with the most images first. Throws
/// std::invalid_argument if no run is on PlanRequest::fit_cores.
std::vector<Plan> make_plans(const std::vector<LoggedRun>& runs, const PlanRequest& request);

/// Format plans. Several plans in text or HTML have titles with machine and work. JSON has one plan
/// per line. HTML is one self-contained file with all plans; `warnings` lists the parts of the logs
/// that were ignored.
std::string to_text(const Plan& plan);
std::string to_text(const std::vector<Plan>& plans);
std::string to_json(const Plan& plan);
std::string to_html(const std::vector<Plan>& plans, const std::vector<std::string>& warnings);

}  // namespace eckart::capacity
