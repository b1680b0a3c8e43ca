#include "compute/cpu/cpu_lane.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/cpu/adaptive_rank_solver.hpp"
#include "compute/cpu/as_tall.hpp"
#include "compute/cpu/factors.hpp"
#include "compute/cpu/float32_solver.hpp"
#include "compute/cpu/float64_solver.hpp"
#include "compute/evict_if_full.hpp"
#include "compute/float_scale.hpp"
#include "compute/task_rank_rule.hpp"
#include "core/error.hpp"
#include "core/quality.hpp"

namespace eckart::compute::cpu {
namespace {

class CpuLane : public Lane {
 public:
  CpuLane(SolverKind solver, Certificate certificate, SolverChooser& chooser)
      : chooser_(chooser),
        certificate_(certificate),
        has_fixed_solver_(!is_iterative(solver)),
        float32_(certificate, float32_workspace_),
        float64_(has_fixed_solver_ ? solver : SolverKind::gram, float64_workspace_),
        gesvd_(SolverKind::gesvd, float64_workspace_),
        adaptive_(solver, certificate, chooser, float32_workspace_, float64_workspace_) {}

  int slots() const override { return 1; }
  void set_stop_token(const std::stop_token& stop) override {
    stop_ = stop;
    adaptive_.set_stop_token(stop);
  }
  void start(int, const BatchKey&, std::span<Task* const> tasks) override {
    for (Task* task : tasks) {
      if (!try_decode_input(*task)) continue;
      try {
        if (!task->known_factors.empty() && reconstruct_from_factors(*task)) continue;
        task->known_factors.clear();
        with_sample_type(task->input.shape().depth, [&]<class T>(T*) { compute<T>(*task); });
      } catch (const ItemError& error) {
        task->reason = error.reason();
        task->error = error.what();
      }
    }
  }
  void finish(int) override {}

 private:
  template <class T>
  void compute(Task& task) {
    const int channels = task.input.shape().channels;
    if (task.wants_spectrum) task.spectra.resize(std::size_t(channels));
    if (task.min_factor_rank) task.factors.resize(std::size_t(channels));
    std::vector<PlaneTask<T>> planes;
    planes.reserve(std::size_t(channels));
    for (int channel = 0; channel < channels; ++channel)
      planes.push_back(make_plane_task<T>(task, channel));
    for (const ChannelGroup& group : channel_groups(task)) {
      std::vector<RankRule> rules;
      for (std::size_t i = 0; i < task.ranks.size(); ++i)
        rules.push_back(make_rank_rule(task, i, group.first));
      const auto of_group = [&](auto& all) {
        return std::span(all).subspan(std::size_t(group.first), std::size_t(group.count));
      };
      compute_group<T>(
          task, of_group(planes), rules,
          task.wants_spectrum ? of_group(task.spectra) : std::span<std::vector<double>>());
      if (task.is_canceled) return;
    }
    for (const PlaneTask<T>& plane : planes) {
      for (const auto& output : plane.outputs) unscale(*output.result, plane.scale);
    }
  }

  template <class T>
  void compute_group(Task& task, std::span<PlaneTask<T>> planes, std::span<const RankRule> rules,
                     std::span<std::vector<double>> spectra) {
    const bool is_adaptive =
        task.wants_spectrum || std::ranges::any_of(rules, [](const RankRule& rule) {
          return rule.kind != RankRule::Kind::rank;
        });
    if (is_adaptive) {
      try {
        adaptive_.reconstruct(planes, rules, spectra);
      } catch (const StopRequested&) {
        task.is_canceled = true;
      }
      return;
    }
    for (const PlaneTask<T>& plane : planes) {
      task.is_canceled = stop_.stop_requested();
      if (task.is_canceled) return;
      reconstruct(plane);
    }
  }

  /// The ranks of the outputs are the largest possible ones.
  template <class T>
  static PlaneTask<T> make_plane_task(Task& task, int channel) {
    PlaneTask<T> plane{
        as_tall(std::as_const(task.input).plane<T>(channel)), peak(task.input.shape().depth), {}};
    if constexpr (std::is_floating_point_v<T>) plane.scale = float_scale(plane.a_mn);
    if (task.min_factor_rank) {
      plane.factors = &task.factors[std::size_t(channel)];
      *plane.factors = {.rows = task.input.shape().rows, .cols = task.input.shape().cols};
      plane.min_factor_rank = *task.min_factor_rank;
    }
    for (std::size_t i = 0; i < task.ranks.size(); ++i) {
      const RankPolicy& policy = rank_policy(task, i, channel);
      plane.outputs.push_back({max_rank(policy, plane.a_mn.rows, plane.a_mn.cols),
                               as_tall(task.outputs[i].plane<T>(channel)),
                               &task.results[i][std::size_t(channel)]});
    }
    return plane;
  }

  template <class T>
  void reconstruct(const PlaneTask<T>& plane) {
    const bool may_iterate =
        plane.factors == nullptr &&
        solver_for({plane.a_mn.rows, plane.a_mn.cols}, plane.max_rank()) == SolverKind::subspace;
    if (may_iterate && float32_.reconstruct(plane)) return;
    float64_.load(plane);
    float64_.decompose();
    float64_.reconstruct(plane);
    const bool is_uncertified = !has_fixed_solver_ && !are_certified(plane);
    if (is_uncertified) {
      gesvd_.load(plane);
      gesvd_.decompose();
      gesvd_.reconstruct(plane);
    }
    for (const auto& output : plane.outputs)
      output.result->is_recomputed = is_uncertified || may_iterate;
  }

  template <class T>
  bool are_certified(const PlaneTask<T>& plane) const {
    return std::all_of(plane.outputs.begin(), plane.outputs.end(), [this](const auto& output) {
      return output.result->is_certified(certificate_);
    });
  }

  /// The CPU does not pad planes, so `shape` is the plane's own shape.
  SolverKind solver_for(PaddedShape shape, int rank) {
    const std::pair key(shape, rank);
    const auto cached = solver_cache_.find(key);
    if (cached != solver_cache_.end()) return cached->second;
    evict_if_full(solver_cache_);
    return solver_cache_[key] = chooser_.choose({shape, rank, subspace_columns(rank), 1});
  }

  SolverChooser& chooser_;
  std::stop_token stop_;
  std::map<std::pair<PaddedShape, int>, SolverKind> solver_cache_;  // by shape and largest rank
  const Certificate certificate_;
  const bool has_fixed_solver_;  // a non-iterative solver was requested; no other solver follows it
  Float32Workspace float32_workspace_;
  Float64Workspace float64_workspace_;
  Float32Solver float32_;
  Float64Solver float64_;
  Float64Solver gesvd_;  // for errors below the resolution of A'A
  AdaptiveRankSolver adaptive_;
};

}  // namespace

std::unique_ptr<Lane> make_lane(SolverKind solver, Certificate certificate,
                                SolverChooser& chooser) {
  return std::make_unique<CpuLane>(solver, certificate, chooser);
}

}  // namespace eckart::compute::cpu
