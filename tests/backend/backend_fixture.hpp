#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/make_backend.hpp"
#include "compute/backend.hpp"
#include "core/error.hpp"
#include "core/rank_spec.hpp"
#include "tests/support/sanitized.hpp"

namespace eckart::test {

/// A backend, a solver, and for CUDA whether bytes must not depend on the other images of a batch.
struct BackendConfig {
  settings::BackendChoice backend;
  SolverKind solver;
  bool deterministic = false;
  Certificate certificate = Certificate::estimate;

  /// True if the only error is float64 rounding. Other configurations promise at most 0.01 dB of
  /// loss before rounding.
  bool is_exact() const { return !is_iterative(solver); }
  /// Whether an image's bytes are promised to depend on nothing but the image. On CUDA that takes
  /// `deterministic`: otherwise the number of iterations follows earlier batches, and libraries may
  /// choose another algorithm for another batch size.
  bool is_reproducible() const { return deterministic || backend == settings::BackendChoice::cpu; }
};

inline std::ostream& operator<<(std::ostream& out, const BackendConfig& config) {
  return out << to_string(config.backend) << '_' << to_string(config.solver)
             << (config.deterministic ? "_deterministic" : "")
             << (config.certificate == Certificate::bound ? "_proven" : "");
}

inline std::string config_name(const ::testing::TestParamInfo<BackendConfig>& info) {
  return ::testing::PrintToString(info.param);
}

/// All configurations. Those that this machine does not support are skipped with the reason.
inline std::vector<BackendConfig> all_configs() {
  using enum SolverKind;
  constexpr auto cpu = settings::BackendChoice::cpu, cuda = settings::BackendChoice::cuda;
  if (kIsSanitized)  // each part of the code once
    return {{cpu, gram},
            {cpu, subspace},
            {cpu, gesvd},
            {cpu, automatic, false, Certificate::bound},
            {cuda, automatic}};
  return {{cpu, gram},
          {cpu, subspace},
          {cpu, gesvd},
          {cpu, gesvdj},
          {cpu, automatic},
          {cuda, gram},
          {cuda, subspace},
          {cuda, gesvd},
          {cuda, gesvdj},
          {cuda, gram, true},
          {cuda, automatic, true},
          {cpu, automatic, false, Certificate::bound},
          {cuda, automatic, false, Certificate::bound}};
}

inline Image copy(const Image& image) {
  Image result(image.shape());
  std::copy_n(image.data(), image.bytes(), result.data());
  return result;
}

inline compute::Task make_task(const Image& image, const std::vector<int>& ranks) {
  compute::Task task;
  task.input = copy(image);
  task.ranks.assign(ranks.begin(), ranks.end());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    task.outputs.emplace_back(image.shape());
    task.results.emplace_back(std::size_t(image.shape().channels));
  }
  return task;
}

class BackendTest : public ::testing::TestWithParam<BackendConfig> {
 protected:
  std::unique_ptr<compute::Backend> make(int batch_planes = 0) {
    compute::BackendOptions options;
    options.solver = GetParam().solver;
    options.deterministic = GetParam().deterministic;
    options.certificate = GetParam().certificate;
    options.batch_planes = batch_planes;
    return app::make_backend(GetParam().backend, options, 1).backend;
  }

  void SetUp() override {
    if (GetParam().backend != settings::BackendChoice::cuda) return;
    try {
      make();
    } catch (const FatalError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// Reconstructs all images on one lane, in one batch per padded shape.
  std::vector<compute::Task> reconstruct(const std::vector<const Image*>& images,
                                         const std::vector<int>& ranks) {
    const auto backend = make();
    const auto lane = backend->make_lane(0);
    std::vector<compute::Task> tasks;
    for (const Image* image : images) tasks.push_back(make_task(*image, ranks));
    std::map<compute::BatchKey, std::vector<compute::Task*>> batches;
    for (compute::Task& task : tasks) batches[compute::batch_key(task, 32)].push_back(&task);
    for (const auto& [key, batch] : batches) {
      lane->start(0, key, batch);
      lane->finish(0);
    }
    for (const compute::Task& task : tasks) EXPECT_EQ(task.error, "");
    return tasks;
  }
  compute::Task reconstruct(const Image& image, const std::vector<int>& ranks) {
    return std::move(reconstruct(std::vector{&image}, ranks).front());
  }
  /// Reconstructs an image at the ranks of these SPECs.
  compute::Task reconstruct(const Image& image, std::string_view specs, double peak,
                            bool wants_spectrum) {
    compute::Task task = make_task(image, {});
    task.peak = peak;
    task.wants_spectrum = wants_spectrum;
    for (const RankPolicy& policy : parse_ranks(specs)) {
      task.ranks.push_back(resolve(policy, image.shape()));
      task.outputs.emplace_back(image.shape());
      task.results.emplace_back(std::size_t(image.shape().channels));
    }
    const auto backend = make();
    const auto lane = backend->make_lane(0);
    compute::Task* const batch[] = {&task};
    lane->start(0, compute::batch_key(task, 32), batch);
    lane->finish(0);
    EXPECT_EQ(task.error, "");
    return task;
  }
};

}  // namespace eckart::test
