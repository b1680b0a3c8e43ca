#include "bench/experiments/solver_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bench/experiments/backend_batch.hpp"
#include "bench/experiments/measured_batches.hpp"
#include "compute/out_of_memory.hpp"
#include "core/enum_names.hpp"
#include "core/quality.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

/// A way to decompose images: a solver on a device.
struct Solver {
  std::string device;
  SolverKind kind = SolverKind::automatic;
  std::unique_ptr<compute::Backend> backend;

  bool is_on_gpu() const { return device == "GPU"; }
};

/// A batch, decomposed in one way.
struct SolverRow {
  std::string device, name;
  std::string wanted;                       ///< the name, without what auto chose
  SolverKind kind = SolverKind::automatic;  ///< of a solver of runs
  bool is_peer = false, is_on_gpu = false;
  std::function<double()> run = {};    ///< returns seconds; empty between passes
  std::optional<double> loss_db = {};  ///< the largest of all images; empty: not computed
  std::string not_measured = {};       ///< why; empty: it was
  MeasuredTimes times = {};

  bool is_measured() const { return not_measured.empty() && times.is_measured(); }
  Estimate seconds_of_call() const { return times.time(0); }
  /// Runs once; 0 after a peer has failed. Peers are ended by a stop request, and then do not fail.
  double seconds(const ExperimentOptions& options) {
    if (!not_measured.empty()) return 0;
    try {
      return run();
    } catch (const std::runtime_error& error) {
      if (!is_peer) throw;
      if (!options.stop.stop_requested()) not_measured = error.what();
      return 0;
    }
  }
  /// A peer may lose more than a run.
  bool is_right() const { return is_peer || loss_db.value_or(0) <= kMaxLossDb; }
};

std::string cpu_text(int cores) { return "CPU, " + text::format_count(cores, "core"); }

std::vector<Solver> find_solvers(const Devices& devices, std::string& no_gpu_reason) {
  std::vector<Solver> solvers;
  const std::vector kinds = {SolverKind::automatic, SolverKind::subspace, SolverKind::gram,
                             SolverKind::gesvd, SolverKind::gesvdj};
  solvers.reserve(2 * kinds.size());
  for (const SolverKind kind : kinds)
    solvers.push_back({cpu_text(devices.cores), kind, devices.make_cpu_backend({.solver = kind})});
  if (devices.gpu) try {
      for (const SolverKind kind : kinds) {
        compute::BackendOptions options{.solver = kind};
        options.memory_fraction /= double(kinds.size());
        solvers.push_back({"GPU", kind, devices.make_gpu_backend(options)});
      }
    } catch (const std::exception& error) {
      no_gpu_reason = error.what();
    }
  return solvers;
}

/// Such as "auto: subspace".
std::string name_of(SolverKind wanted, SolverKind used) {
  const std::string name(to_string(wanted));
  return wanted == used ? name : name + ": " + std::string(to_string(used));
}

/// A batch, decomposed in all ways.
struct SolverRows {
  ImageBatch batch;
  std::vector<double> optimal{};  ///< the squared errors of its scenes
  std::vector<SolverRow> runs{}, peers{};
};

SolverRow make_row(const Solver& solver, const ImageBatch& batch, const MeasuredBatches& smaller) {
  const std::string name(to_string(solver.kind));
  return {.device = solver.device,
          .name = name,
          .wanted = name,
          .kind = solver.kind,
          .is_on_gpu = solver.is_on_gpu(),
          .not_measured = smaller.reason_to_skip(solver.device, name, batch)};
}

/// Decomposes the batch once; the first time, it compares the images with the optimum.
void prepare(SolverRow& row, const Solver& solver, const SolverRows& all) {
  if (!row.not_measured.empty()) return;
  try {
    const auto batch = std::make_shared<BackendBatch>(*solver.backend, all.batch);
    batch->run();
    if (!row.loss_db) {
      row.loss_db = largest_loss_db(batch->squared_errors(), all.optimal);
      row.name = name_of(solver.kind, batch->solver());
      if (!row.is_right()) row.not_measured = kWrongResult;
    }
    row.run = [batch] { return batch->run().total_s; };
  } catch (const compute::OutOfMemory& error) {
    if (!row.times.is_measured()) row.not_measured = error.what();
  }
}

/// The images of a batch for libraries of Python, and what these make of them.
class PeerBatch {
 public:
  PeerBatch(Peers& peers, const ImageBatch& shape) : images_(batch_images(shape)) {
    std::vector<std::uint8_t> pixels;
    for (const Image& image : images_) {
      const auto* begin = reinterpret_cast<const std::uint8_t*>(image.data());
      pixels.insert(pixels.end(), begin, begin + image.bytes());
    }
    prepared_ = peers.prepare_images(pixels, shape.n, shape.k);
  }
  const std::vector<Variant>& variants() const { return prepared_->variants(); }
  double run(std::size_t variant) { return prepared_->run(variant); }
  std::vector<double> squared_errors(std::size_t variant) {
    const std::vector<std::uint8_t> pixels = prepared_->pixels(variant);
    std::vector<double> errors;
    const std::uint8_t* next = pixels.data();
    for (const Image& image : images_) {
      errors.push_back(squared_error(image, next));
      next += image.bytes();
    }
    return errors;
  }

 private:
  std::vector<Image> images_;
  std::unique_ptr<PeerImages> prepared_;
};

SolverRow make_peer_row(const Variant& variant, const ImageBatch& batch,
                        const MeasuredBatches& smaller) {
  SolverRow row;
  row.is_on_gpu = variant.cores == 0;
  row.device = row.is_on_gpu ? "GPU" : cpu_text(variant.cores);
  row.name = row.wanted = variant.name;
  row.is_peer = true;
  row.not_measured = smaller.reason_to_skip(row.device, row.name, batch);
  return row;
}

/// The same for the libraries of Python. Their rows are made in the first pass.
void prepare_peers(SolverRows& all, Peers& peers, const MeasuredBatches& smaller, bool is_first,
                   const ExperimentOptions& options) {
  if (!is_first && all.peers.empty()) return;
  std::shared_ptr<PeerBatch> batch;
  try {
    batch = std::make_shared<PeerBatch>(peers, all.batch);
  } catch (const std::runtime_error& error) {
    if (!options.stop.stop_requested()) options.print_line(std::string("peers: ") + error.what());
    return;
  }
  if (is_first) {
    for (const Variant& variant : batch->variants())
      all.peers.push_back(make_peer_row(variant, all.batch, smaller));
  }
  for (std::size_t i = 0; i < all.peers.size(); ++i) {
    if (options.stop.stop_requested()) return;
    SolverRow& row = all.peers[i];
    if (!row.not_measured.empty()) continue;
    try {
      if (!row.loss_db) row.loss_db = largest_loss_db(batch->squared_errors(i), all.optimal);
      row.run = [batch, i] { return batch->run(i); };
    } catch (const std::runtime_error& error) {
      row.not_measured = error.what();
    }
  }
}

void sample_rows(SolverRows& all, std::size_t pass, const ExperimentOptions& options) {
  std::vector<SampledWork> works;
  for (std::vector<SolverRow>* rows : {&all.runs, &all.peers}) {
    for (SolverRow& row : *rows) {
      if (!row.run || !row.not_measured.empty()) continue;
      const TimedWork work = [&row, &options] { return std::vector{row.seconds(options)}; };
      works.push_back(
          {row.is_on_gpu ? with_clock(work, options) : work, &row.times, &row.not_measured});
    }
  }
  sample(works, pass, options);
  for (std::vector<SolverRow>* rows : {&all.runs, &all.peers}) {
    for (SolverRow& row : *rows) row.run = {};  // frees its memory
  }
}

/// Measures all rows once; the first time, it checks their results before.
void measure(SolverRows& all, std::size_t pass, const std::vector<Solver>& solvers,
             compute::Backend& reference, MeasuredBatches& measured, const Devices& devices,
             const ExperimentOptions& options) {
  const bool is_first = all.runs.empty();
  if (is_first) {
    all.optimal = scene_errors(reference, all.batch);
    for (const Solver& solver : solvers) all.runs.push_back(make_row(solver, all.batch, measured));
  }
  for (std::size_t i = 0; i < solvers.size() && !options.stop.stop_requested(); ++i)
    prepare(all.runs[i], solvers[i], all);
  if (devices.peers && !options.stop.stop_requested())
    prepare_peers(all, *devices.peers, measured, is_first, options);
  sample_rows(all, pass, options);
  if (!is_first) return;
  for (const std::vector<SolverRow>* rows : {&all.runs, &all.peers}) {
    for (const SolverRow& row : *rows) {
      if (row.is_measured())
        measured.add(row.device, row.wanted, all.batch, row.seconds_of_call().median);
      else if (row.not_measured == too_slow(options))
        measured.add(row.device, row.wanted, all.batch, row.times.first_call_s);
    }
  }
}

/// The fastest measured row on the CPU or the GPU that loses no more than a run may; null if there
/// is none.
const SolverRow* fastest(const SolverRows& all, bool is_on_gpu) {
  const SolverRow* fastest = nullptr;
  for (const std::vector<SolverRow>* rows : {&all.runs, &all.peers}) {
    for (const SolverRow& row : *rows) {
      if (!row.is_measured() || row.is_on_gpu != is_on_gpu || *row.loss_db > kMaxLossDb) continue;
      if (!fastest || row.seconds_of_call().median < fastest->seconds_of_call().median)
        fastest = &row;
    }
  }
  return fastest;
}

Estimate speedup(const SolverRow& fast, const SolverRow& slow) {
  return ratio(slow.times.passes[0], fast.times.passes[0]);
}

std::vector<Cell> cells_of(const ImageBatch& batch, const SolverRow& row, const SolverRow* on_cpu) {
  std::vector<Cell> cells = {batch.text(), row.device, row.name};
  if (row.is_measured()) {
    const Estimate seconds = row.seconds_of_call();
    cells.emplace_back(microseconds(seconds));
    cells.emplace_back(rate(batch.images, seconds));
    cells.push_back(on_cpu ? Cell(speedup(row, *on_cpu)) : Cell());
  } else {
    cells.emplace_back(NotMeasured{row.not_measured});
    cells.resize(6);
  }
  cells.push_back(row.loss_db ? Cell(*row.loss_db) : Cell());
  return cells;
}

/// The name of the solver; of `auto` that of the solver it chose.
std::string solver_of(const SolverRow& row) {
  constexpr std::string_view kAuto = "auto: ";
  return row.name.starts_with(kAuto) ? row.name.substr(kAuto.size()) : row.name;
}

std::string lesson(const SolverRows& all) {
  const SolverRow *cpu = fastest(all, false), *gpu = fastest(all, true);
  if (!cpu) return {};
  std::string text;
  for (const SolverKind complete : {SolverKind::gram, SolverKind::gesvd}) {
    for (const SolverRow& row : all.runs) {
      if (row.is_on_gpu || row.kind != complete || !row.is_measured() || &row == cpu) continue;
      text = fmt::format(
          "With {}, {} on the CPU is {} times as fast as {}, which computes all singular vectors, "
          "and its images lose {} dB at most.{}",
          all.batch.text(), solver_of(*cpu), text::format_ratio(speedup(*cpu, row).median),
          to_string(complete), text::format_number(*cpu->loss_db),
          gpu ? "" : " A truncated SVD need not compute what the rank leaves out.");
    }
  }
  if (gpu)
    text += fmt::format("{} GPU ({}) is {} times as fast as the CPU, copies included.",
                        text.empty() ? fmt::format("With {}, the", all.batch.text()) : " The",
                        solver_of(*gpu), text::format_ratio(speedup(*gpu, *cpu).median));
  return text;
}

}  // namespace

ExperimentResult bench_solvers(const Devices& devices, const ExperimentOptions& options) {
  Table table{.name = "solvers",
              .title = "Truncated SVD and reconstruction of 8-bit images",
              .columns = {{"batch", "batch", ""},
                          {"device", "device", ""},
                          {"solver", "solver", ""},
                          {"time_us", "time", "us", true},
                          {"images_per_s", "rate", "images/s"},
                          {"speedup", "speedup", "× fastest of CPU"},
                          {"loss_db", "largest loss", "dB"}},
              .rows = {}};
  std::string no_gpu_reason = devices.no_gpu_reason;
  const std::vector<Solver> solvers = find_solvers(devices, no_gpu_reason);
  const std::unique_ptr<compute::Backend> reference =
      devices.make_cpu_backend({.solver = SolverKind::gesvd});
  ExperimentResult result;
  const auto batches = sizes<ImageBatch>(options,
                                         {{.images = 1, .n = 256, .k = 20},
                                          {.images = 64, .n = 256, .k = 20},
                                          {.images = 1024, .n = 256, .k = 20},
                                          {.images = 1, .n = 1024, .k = 50},
                                          {.images = 16, .n = 1024, .k = 50},
                                          {.images = 4, .n = 2048, .k = 100}},
                                         {{.images = 1, .n = 256, .k = 20},
                                          {.images = 64, .n = 256, .k = 20},
                                          {.images = 4, .n = 1024, .k = 50}},
                                         {{.images = 1, .n = 64, .k = 8}});
  MeasuredBatches measured(max_call_seconds(options), devices.cores);
  std::vector<SolverRows> all;
  std::vector<std::string> names;
  for (const ImageBatch& batch : batches) {
    all.push_back({batch});
    names.push_back(batch.text());
  }
  const std::size_t complete =
      measure_in_passes(options, "", names, [&](std::size_t i, std::size_t pass) {
        measure(all[i], pass, solvers, *reference, measured, devices, options);
      });
  for (const SolverRows& each : std::span(all).first(complete)) {
    const SolverRow* on_cpu = fastest(each, false);
    for (const std::vector<SolverRow>* rows : {&each.runs, &each.peers}) {
      for (const SolverRow& row : *rows) {
        table.add_row(cells_of(each.batch, row, on_cpu));
        result.is_right = result.is_right && row.is_right();
      }
    }
    if (const std::string text = lesson(each); !text.empty()) table.lesson = text;
  }
  table.remove_empty_columns();
  table.notes = {
      std::string("Times are from pixels in the memory of the host to pixels there, copies "
                  "included, by its clock. On the CPU, the solvers compute an image on one core, "
                  "and several images on all. ") +
          kIntervalNote,
      fmt::format(
          "Loss is that of PSNR against the optimum, of the pixels, from LAPACK in float64: "
          "the largest of all images. A result that loses more than {} dB is wrong.",
          kMaxLossDb)};
  if (devices.peers)
    table.notes.emplace_back(
        "Libraries of Python compute in float32, on all cores, and are timed in Python. They may "
        "lose more; then they do not count as the fastest.");
  if (devices.gpu)
    table.notes.emplace_back(
        "Each solver has its share of the memory of the GPU, so batches may be smaller than in a "
        "run; auto chooses by built-in costs.");
  if (!no_gpu_reason.empty())
    table.notes.push_back(without_gpu_note("the rows of the GPU", no_gpu_reason));
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace eckart::bench
