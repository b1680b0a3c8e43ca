#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/snapshot.hpp"
#include "telemetry/statistic.hpp"

namespace eckart::telemetry {

/// The solver that was chosen for the planes of one shape, and the reason.
struct SolverChoiceStats {
  int rows = 0, cols = 0;
  int rank = 0;  ///< the largest rank
  int planes_per_batch = 0;
  std::string solver;
  std::string explanation;
};

/// All outputs of one rank SPEC.
struct RankSummary {
  std::string rank;  ///< the SPEC, as it was given
  std::int64_t outputs = 0;
  Statistic psnr_db{0.01};        ///< of the pixels written, if known; exact outputs count as 99 dB
  Statistic file_psnr_db{0.01};   ///< of the pixels in the files, where they were measured
  Statistic ssim{0.0001};         ///< likewise
  std::int64_t output_bytes = 0;  ///< written
  double compute_s = 0;  ///< of the images of these outputs, which may have other ranks too
  double write_s = 0;    ///< of encoding and writing these outputs
};

/// The result of a run: the source of the summary and of `--json`.
struct RunReport : ImageCounts {
  std::string backend;           ///< name
  std::string backend_details;   ///< devices, solver
  std::string backend_reason;    ///< why this backend was chosen
  std::int64_t partly_done = 0;  ///< failed images with outputs that this or an earlier run made
  std::int64_t ignored = 0;      ///< entries of the folders that were not inputs
  CountsByExtension not_read;    ///< the files among them that do not have the name of an image
  double wall_s = 0;             ///< from the start of the program
  double cpu_s = 0;              ///< CPU time of all threads since then
  double pipeline_s = 0;         ///< the part of it that `stages` and `machine` cover
  /// Over outputs, of the pixels written; exact outputs count as 99 dB. NaN: unknown for all.
  double psnr_db_mean = 0;
  double psnr_db_min = 0;
  std::vector<RankSummary> ranks;      ///< in the order of the settings
  double max_loss_estimate_db = 0;     ///< the largest of all outputs
  double max_loss_bound_db = 0;        ///< the largest of all outputs; NaN if not proven for all
  std::int64_t planes_recomputed = 0;  ///< planes that the first solver did not certify
  /// Images and outputs whose files the GPU decoded and encoded.
  std::int64_t decoded_on_gpu = 0, encoded_on_gpu = 0;
  bool interrupted = false;                ///< not every input was processed
  std::string stopped_by;                  ///< environment error that ended the run; empty if none
  std::vector<SolverChoiceStats> solvers;  ///< by shape, largest first
  std::vector<StageStats> stages;
  machine::MachineUsage machine;  ///< of the pipeline
  std::vector<std::string> warnings;
};

}  // namespace eckart::telemetry
