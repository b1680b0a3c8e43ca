#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/snapshot.hpp"

namespace eckart::telemetry {

/// How the planes of one shape were decomposed, and why.
struct SolverChoiceStats {
  int rows = 0, cols = 0;
  int rank = 0;  ///< the largest
  int planes_per_batch = 0;
  std::string solver;
  std::string explanation;
};

/// What a run did: the closing summary and `--json` both come from this.
struct RunReport : ImageCounts {
  std::string backend;          ///< name
  std::string backend_details;  ///< devices, solver, why this backend
  std::int64_t ignored = 0;     ///< files in the folders that are not images by name
  double wall_s = 0;            ///< from the start of the program
  double cpu_s = 0;             ///< of all threads, likewise
  double pipeline_s = 0;        ///< the part of it that `stages` and `machine` are of
  double psnr_db_mean = 0;  ///< over outputs, of the pixels written; exact outputs count as 99 dB
  double psnr_db_min = 0;
  double max_loss_estimate_db = 0;  ///< PSNR before rounding that no output can have lost more of
  double max_loss_bound_db = 0;     ///< the same, proven; NaN if it is not proven of every output
  std::int64_t planes_recomputed = 0;  ///< of planes, what the first solver had not settled
  bool interrupted = false;            ///< not every input was processed
  std::string stopped_by;  ///< what of the machine failed, so that the run ended; empty if nothing
  std::vector<SolverChoiceStats> solvers;  ///< by shape, the largest first
  std::vector<StageStats> stages;
  machine::MachineUsage machine;  ///< until the end
  std::vector<std::string> warnings;
};

}  // namespace eckart::telemetry
