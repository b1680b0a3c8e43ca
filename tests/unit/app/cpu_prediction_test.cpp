#include "app/cpu_prediction.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "app/make_backend.hpp"
#include "codec/codec.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxSeconds = 1;

/// Predicts the time of files whose names are their seconds, with two lanes.
struct Predicted {
  double seconds = 0;
  int files_read = 0;
};
Predicted predict(const std::vector<fs::path>& files) {
  Predicted result;
  result.seconds = predict_cpu_time(files, 2, kMaxSeconds, [&](const fs::path& file) {
                     ++result.files_read;
                     return std::stod(file.native());
                   }).seconds;
  return result;
}

TEST(CpuPrediction, is_the_sum_of_few_images_divided_by_the_lanes) {
  EXPECT_DOUBLE_EQ(predict({"0.1", "0.2", "0.3"}).seconds, 0.3);
  EXPECT_DOUBLE_EQ(predict({}).seconds, 0);
}

TEST(CpuPrediction, is_at_least_the_time_of_the_longest_image) {
  EXPECT_DOUBLE_EQ(predict({"0.1", "0.5"}).seconds, 0.5);
  EXPECT_DOUBLE_EQ(predict({"0.5", "0.1"}).seconds, 0.5) << "wherever it is";
}

TEST(CpuPrediction, samples_many_images_evenly) {
  std::vector<fs::path> files(500, "0");
  files.resize(1000, "0.002");  // the second half
  const Predicted result = predict(files);
  EXPECT_NEAR(result.seconds, 0.5, 0.01);
  EXPECT_LT(result.files_read, 300);
}

TEST(CpuPrediction, looks_at_few_images_if_there_is_far_too_much_work) {
  const Predicted result = predict(std::vector<fs::path>(1000, "1"));
  EXPECT_GT(result.seconds, kMaxSeconds);
  EXPECT_LT(result.files_read, 20);
}

class RequestPredictionTest : public testing::Test {
 protected:
  RequestPredictionTest() {
    request_.inputs = {folder_.path() / "in"};
    request_.settings.cpu.lanes = 1;
    add_image("a.png", 64, 48);
  }

  void add_image(const std::string& name, int rows, int cols) {
    const std::vector<std::byte> file =
        codec::codec_for(ImageFormat::png).encode({Image({rows, cols, 1, Depth::u8})}, {});
    fs::create_directories(folder_.path() / "in");
    std::ofstream(folder_.path() / "in" / name)
        .write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
  }

  std::optional<CpuPrediction> predicted() const {
    return predict_cpu_time(request_, {}, kMaxSeconds);
  }
  double seconds() const { return predicted().value().seconds; }

  const test::TempFolder folder_;
  RunRequest request_;
};

TEST_F(RequestPredictionTest, grows_with_images_sizes_and_ranks) {
  const double one = seconds();
  EXPECT_GT(one, 0);
  EXPECT_LT(one, 0.01);
  add_image("b.png", 64, 48);
  EXPECT_EQ(predicted()->images, 2U);
  EXPECT_DOUBLE_EQ(seconds(), 2 * one);
  request_.settings.ranks = {20, 40};
  EXPECT_GT(seconds(), 2 * one);
  request_.settings.ranks = {RankPolicy(RankPolicy::Kind::energy, 0.99)};
  EXPECT_GT(seconds(), 2 * one);
  request_.settings.ranks = {20};
  add_image("b.png", 640, 480);
  EXPECT_GT(seconds(), 10 * one);
  request_.settings.input.size = TargetSize::at_most(16);
  EXPECT_LT(seconds(), 2 * one);
}

/// The time of a plane is known here; docs/explanation/performance.md says why 2.5 times.
TEST_F(RequestPredictionTest, is_two_and_a_half_times_the_modeled_time) {
  const std::string cpu = make_backend(settings::BackendChoice::cpu, {}, 1).backend->device_name();
  const SolverCosts costs = {{.batch_s = 0.01}, {.batch_s = 0.01}};
  const Calibration calibration{{CostBackend::cpu, cpu, "2020-01-01", costs}};
  const auto prediction = predict_cpu_time(request_, calibration, kMaxSeconds);
  EXPECT_NEAR(prediction.value().seconds, 0.025, 1e-9);
}

TEST_F(RequestPredictionTest, is_nothing_for_outputs_of_full_rank) {
  request_.settings.ranks = {RankPolicy(RankPolicy::Kind::full, 0)};
  EXPECT_EQ(seconds(), 0);
  request_.settings.ranks = {48};
  EXPECT_EQ(seconds(), 0);
  request_.settings.ranks = {48, 47};
  EXPECT_GT(seconds(), 0);
  request_.settings.ranks = {48};
  request_.settings.color = ColorMode::ycbcr;
  request_.settings.chroma_rank = 5;
  EXPECT_GT(seconds(), 0);
  request_.settings.chroma_rank.reset();
  request_.settings.output.factors = FactorType::float32;
  EXPECT_GT(seconds(), 0);
}

TEST_F(RequestPredictionTest, counts_no_time_for_files_that_fail) {
  const double before = seconds();
  std::ofstream(folder_.path() / "in" / "broken.png") << "no image";
  EXPECT_DOUBLE_EQ(seconds(), before);
}

TEST_F(RequestPredictionTest, reads_a_list_of_files) {
  const double before = seconds();
  request_.files_from = folder_.path() / "list";
  std::ofstream(request_.files_from) << (request_.inputs.front() / "a.png").native() << "\n";
  request_.inputs.clear();
  EXPECT_DOUBLE_EQ(seconds(), before);
  request_.files_from = "-";
  EXPECT_FALSE(predicted()) << "stdin can be read only once";
}

TEST_F(RequestPredictionTest, is_unknown_without_a_cost_model) {
  request_.settings.solver = SolverKind::gesvd;
  EXPECT_FALSE(predicted());
}

}  // namespace
}  // namespace eckart::app
