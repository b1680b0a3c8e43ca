#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "capacity/model.hpp"

namespace eckart::capacity {

/// What is asked beside what is always told.
struct PlanRequest {
  std::optional<double> target_per_s = {};
  std::optional<double> images = {};       ///< how many there are to do
  std::optional<double> deadline_s = {};   ///< in which they are to be done
  std::vector<int> cores = {}, gpus = {};  ///< further predictions
  std::vector<int> fit_cores = {};         ///< predict from runs on these alone; empty: from all
};

struct Speedup {
  int cores = 1;
  Estimate amdahl = {};
  double gustafson = 1;
};

/// How the rate grows with the cores.
struct ScalingAnalysis {
  bool is_known = false;        ///< false: all runs had the same cores
  std::vector<int> cores = {};  ///< of the runs
  /// Amdahl's law, from the runs alone; none where its interval goes beyond 100 %: such runs don't
  /// tell.
  std::optional<LineFit> measured = {};
  Estimate serial_fraction = {};  ///< what the predictions take: with what is usual
  /// Gustafson's serial share of a run whose work grows with its cores.
  Estimate gustafson_serial_fraction = {};
  bool is_gustafson_known = false;  ///< its interval is within 100 %
  int gustafson_runs = 0;           ///< from which it is fitted; 0: it follows from Amdahl's
  std::vector<Speedup> speedups = {};
};

struct PredictionRow : Prediction {
  std::optional<double> measured_per_s = {};  ///< the mean of the runs there, or of others
  bool is_upper_bound = false;                ///< what is known is an upper bound
};

/// Runs that tell different things of the same cores.
struct Contradiction {
  int cores = 1;
  double predicted_per_s = 0;            ///< 0: not the prediction, but the runs differ
  double low_per_s = 0, high_per_s = 0;  ///< of the runs
  bool is_held_out = false;              ///< of runs from which nothing is predicted
};

/// What a target takes.
struct TargetResult {
  double rate_per_s = 0;
  double headroom = 0;  ///< of the capacity here: 0.2 is a fifth more than is wanted
  std::vector<Requirement> requirements =
      {};  ///< with the GPUs there are; then others, where these don't do
};

/// The answers for one kind of work on one kind of machine.
struct Plan {
  std::string host = {}, cpu = {}, backend = {}, device = {}, command = {};
  std::vector<std::string> settings = {};  ///< "rank=50"
  std::vector<RunMeasurement> runs = {};
  int omitted_workloads = 0;  ///< other kinds of work, without runs on fit_cores
  std::vector<RunMeasurement> held_out_runs =
      {};  ///< which PlanRequest::fit_cores keeps from the predictions
  std::string first_time = {}, last_time = {};
  int cores = 1, gpus = 0;  ///< here
  double pixels_per_image = 0, input_bytes_per_image = 0;

  /// The capacity: what was measured where something was saturated; of a service that had less to
  /// do, by its first bound; else the rate that was measured, of unknown limit, and at least.
  Prediction current_capacity = {};
  RunMeasurement baseline = {};    ///< the runs with the most cores, as one
  std::vector<Bound> bounds = {};  ///< of these, the limit first
  double noise = kRunNoise;        ///< relative, of runs
  std::vector<Contradiction> contradictions = {};
  std::map<Stage, int> fixed_threads = {};   ///< set to the same in all runs
  bool has_unsupported_gpu_request = false;  ///< asked for GPUs, of runs without any
  ScalingAnalysis scaling = {};
  bool has_varying_threads = false;  ///< runs set them differently; the rates are for `auto`
  std::vector<PredictionRow> predictions = {};  ///< by GPUs, then by cores
  std::vector<Prediction> curve = {};  ///< with the GPUs here, to four times the cores or more
  Prediction baseline_prediction = {}, one_more_core = {};
  Prediction doubled_cores = {};
  std::optional<Prediction> one_more_gpu = {};
  std::optional<TargetResult> target = {};
  std::optional<double> images = {}, images_duration_s = {};  ///< asked for, at the capacity here
  double peak_per_s = 0;  ///< the best interval of all runs here

  /// Nothing was saturated, and not for want of work: the capacity is a lower bound.
  bool is_inconclusive() const { return !current_capacity.bottleneck; }
  /// What `more` brings: the capacity by the ratio of predictions. A limit of whole threads can
  /// make it nothing.
  double gain_per_s(const Prediction& more) const {
    const double ratio = more.rate_per_s.value / baseline_prediction.rate_per_s.value;
    return std::max(0.0, (ratio - 1) * current_capacity.rate_per_s.value);
  }
  /// How much more than the peak the machine can do.
  double headroom() const { return current_capacity.rate_per_s.value / peak_per_s - 1; }
};

/// A plan for each kind of work in the logs, the one with the most images first. Throws
/// std::invalid_argument where no run is on PlanRequest::fit_cores.
std::vector<Plan> make_plans(const std::vector<LoggedRun>& runs, const PlanRequest& request);

/// How plans are told; in JSON each on a line, in HTML all in one file that needs nothing else,
/// with `warnings` of what was left out of the logs.
std::string to_text(const Plan& plan);
std::string to_json(const Plan& plan);
std::string to_html(const std::vector<Plan>& plans, const std::vector<std::string>& warnings);

}  // namespace eckart::capacity
