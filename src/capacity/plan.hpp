#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "capacity/model.hpp"

namespace eckart::capacity {

/// What is asked beside what is always told.
struct Question {
  std::optional<double> target_per_s = {};
  std::optional<double> images = {};       ///< how many there are to do
  std::optional<double> deadline_s = {};   ///< in which they are to be done
  std::vector<int> cores = {}, gpus = {};  ///< further predictions
  std::vector<int> from_cores = {};        ///< predict from runs on these alone; empty: from all
};

struct Speedup {
  int cores = 1;
  Interval amdahl = {};
  double gustafson = 1;
};

/// How the rate grows with the cores.
struct Scaling {
  bool is_known = false;        ///< false: all runs had the same cores
  std::vector<int> cores = {};  ///< of the runs
  /// Amdahl's law, from the runs alone; none where its interval goes beyond 100 %: such runs don't
  /// tell.
  std::optional<Line> measured = {};
  Interval serial = {};  ///< what the predictions take: with what is usual
  /// Gustafson's serial share of a run whose work grows with its cores.
  Interval scaled_serial = {};
  bool is_scaled_known = false;  ///< its interval is within 100 %
  int scaled_runs = 0;           ///< from which it is fitted; 0: it follows from Amdahl's
  std::vector<Speedup> speedups = {};
};

struct Predicted : Prediction {
  std::optional<double> measured_per_s = {};  ///< the mean of the runs there, or of others
  bool is_at_most = false;                    ///< what is known is an upper bound
};

/// Runs that tell different things of the same cores.
struct Contradiction {
  int cores = 1;
  double predicted_per_s = 0;            ///< 0: not the prediction, but the runs differ
  double low_per_s = 0, high_per_s = 0;  ///< of the runs
  bool is_of_others = false;             ///< of runs from which nothing is predicted
};

/// What a target takes.
struct TargetAnswer {
  double rate_per_s = 0;
  double headroom = 0;           ///< of the capacity here: 0.2 is a fifth more than is wanted
  std::vector<Need> needs = {};  ///< with the GPUs there are; then others, where these don't do
};

/// The answers for one kind of work on one kind of machine.
struct Plan {
  std::string host = {}, cpu = {}, backend = {}, device = {}, command = {};
  std::vector<std::string> settings = {};  ///< "rank=50"
  std::vector<Measured> runs = {};
  int kinds_left_out = 0;             ///< other kinds of work, without runs on from_cores
  std::vector<Measured> others = {};  ///< which Question::from_cores keeps from the predictions
  std::string first_time = {}, last_time = {};
  int cores = 1, gpus = 0;  ///< here
  double pixels_per_image = 0, input_bytes_per_image = 0;

  /// The capacity: what was measured where something was saturated; of a service that had less to
  /// do, by its first bound; else the rate that was measured, of unknown limit, and at least.
  Prediction here = {};
  Measured present = {};           ///< the runs with the most cores, as one
  std::vector<Bound> bounds = {};  ///< of these, the limit first
  double noise = kRunSpread;       ///< relative, of runs
  std::vector<Contradiction> contradictions = {};
  std::map<std::string, int> fixed_threads = {};  ///< by stage, set to the same in all runs
  bool has_useless_gpus = false;                  ///< asked for GPUs, of runs without any
  Scaling scaling = {};
  bool varies_threads = false;              ///< runs set them differently; the rates are for `auto`
  std::vector<Predicted> predictions = {};  ///< by GPUs, then by cores
  std::vector<Prediction> curve = {};       ///< with the GPUs here, to four times the cores or more
  Prediction predicted_here = {}, one_more_core = {};
  Prediction twice_the_cores = {};
  std::optional<Prediction> one_more_gpu = {};
  std::optional<TargetAnswer> target = {};
  std::optional<double> images = {}, images_take_s = {};  ///< asked for, at the capacity here
  double peak_per_s = 0;                                  ///< the best interval of all runs here

  /// Nothing was saturated, and not for want of work: the capacity is a lower bound.
  bool is_too_little() const { return here.limit == "unknown"; }
  /// What `more` brings: the capacity by the ratio of predictions. A limit of whole threads can
  /// make it nothing.
  double gain_per_s(const Prediction& more) const {
    const double ratio = more.rate_per_s.value / predicted_here.rate_per_s.value;
    return std::max(0.0, (ratio - 1) * here.rate_per_s.value);
  }
  /// How much more than the peak the machine can do.
  double headroom() const { return here.rate_per_s.value / peak_per_s - 1; }
};

/// A plan for each kind of work in the logs, the one with the most images first. Throws
/// std::invalid_argument where no run is on Question::from_cores.
std::vector<Plan> make_plans(const std::vector<LoggedRun>& runs, const Question& question);

/// How plans are told; in JSON each on a line, in HTML all in one file that needs nothing else,
/// with `warnings` of what was left out of the logs.
std::string to_text(const Plan& plan);
std::string to_json(const Plan& plan);
std::string to_html(const std::vector<Plan>& plans, const std::vector<std::string>& warnings);

}  // namespace eckart::capacity
