#include "compute/cpu/cpu_lane.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <utility>

#include "compute/cpu/float32_way.hpp"
#include "compute/cpu/float64_way.hpp"
#include "compute/make_room.hpp"
#include "core/error.hpp"
#include "core/quality.hpp"

namespace eckart::cpu {
namespace {

/// Rows and columns exchanged where that makes rows >= cols.
template <class T>
MatrixView<T> upright(MatrixView<T> view) {
  return view.rows >= view.cols ? view : view.transposed();
}

class CpuLane : public Lane {
 public:
  CpuLane(SolverKind solver, SolverChooser& chooser)
      : chooser_(chooser),
        exact_(solver != SolverKind::automatic && solver != SolverKind::subspace),
        float64_(exact_ ? solver : SolverKind::gram) {}

  int slots() const override { return 1; }
  void give_up_after(const std::stop_token& stop) override { stop_ = stop; }
  void start(int, const BatchKind&, std::span<Task* const> tasks) override {
    for (Task* task : tasks) {
      try {
        for (int channel = 0; channel < task->input.shape().channels; ++channel) {
          task->given_up = stop_.stop_requested();
          if (task->given_up) break;
          if (task->input.shape().depth == Depth::u8) {
            reconstruct(plane_of<std::uint8_t>(*task, channel));
          } else {
            reconstruct(plane_of<std::uint16_t>(*task, channel));
          }
        }
      } catch (const ItemError& error) {
        task->error = error.what();
      }
    }
  }
  void finish(int) override {}

 private:
  template <class T>
  static Plane<T> plane_of(Task& task, int channel) {
    Plane<T> plane{
        upright(std::as_const(task.input).plane<T>(channel)), peak(task.input.shape().depth), {}};
    for (std::size_t i = 0; i < task.ranks.size(); ++i) {
      plane.outputs.push_back({choose_rank(task.ranks[i], plane.a_mn.rows, plane.a_mn.cols),
                               upright(task.outputs[i].plane<T>(channel)),
                               &task.results[i][std::size_t(channel)]});
    }
    return plane;
  }

  template <class T>
  void reconstruct(const Plane<T>& plane) {
    const SolverKind kind = solver_for({plane.a_mn.rows, plane.a_mn.cols}, plane.largest_rank());
    if (kind == SolverKind::subspace && float32_.reconstruct(plane)) return;
    float64_.reconstruct(plane);
    const bool coarse = !exact_ && !certified(plane);
    if (coarse) gesvd_.reconstruct(plane);
    for (const auto& output : plane.outputs)
      output.result->done_again = coarse || kind == SolverKind::subspace;
  }

  template <class T>
  static bool certified(const Plane<T>& plane) {
    return std::all_of(plane.outputs.begin(), plane.outputs.end(), [](const auto& output) {
      return output.result->most_loss_db <= kMostLossDb;
    });
  }

  /// Planes are not padded here, so the shape is the plane's own.
  SolverKind solver_for(PaddedShape shape, int rank) {
    const std::pair key(shape, rank);
    const auto known = solvers_.find(key);
    if (known != solvers_.end()) return known->second;
    make_room(solvers_);
    return solvers_[key] = chooser_.choose({shape, rank, subspace_columns(rank), 1});
  }

  SolverChooser& chooser_;
  std::stop_token stop_;
  std::map<std::pair<PaddedShape, int>, SolverKind> solvers_;  // by shape and largest rank
  const bool exact_;  // one solver was asked for, and no other is to follow it
  Float32Way float32_;
  Float64Way float64_;
  Float64Way gesvd_{SolverKind::gesvd};  // for errors that A'A is too coarse for
};

}  // namespace

std::unique_ptr<Lane> make_lane(SolverKind solver, SolverChooser& chooser) {
  return std::make_unique<CpuLane>(solver, chooser);
}

}  // namespace eckart::cpu
