// The words of logs, reports, JSON, metrics and settings. Other programs read them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/color_mode.hpp"
#include "core/error.hpp"
#include "core/factors.hpp"
#include "core/image_format.hpp"
#include "core/outcome.hpp"
#include "core/peak_choice.hpp"
#include "core/preparation.hpp"
#include "core/rank_policy.hpp"
#include "core/residual_choice.hpp"
#include "core/resource.hpp"
#include "core/solver_costs.hpp"
#include "core/solver_kind.hpp"

namespace eckart {
namespace {

using testing::ElementsAre;

/// The names of the values 0 to count - 1.
template <class Enum>
std::vector<std::string> names_of_first(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(to_string(Enum(i)));
  return names;
}

TEST(OutcomeName, is_that_of_its_value) {
  EXPECT_THAT(names_of_first<Stage>(kStageCount),
              ElementsAre("source", "load", "batch", "compute", "write"));
  EXPECT_THAT(
      names_of_first<FailureReason>(kFailureReasonCount),
      ElementsAre("none", "not found", "unreadable", "empty file", "not an image", "unsupported",
                  "too large", "corrupt", "not encodable", "output collision", "out of memory",
                  "not converged", "compute failed", "not written", "internal"));
  EXPECT_THAT(names_of_first<ItemResult>(int(ItemResult::deferred) + 1),
              ElementsAre("done", "skipped", "failed", "incomplete", "deferred"));
}

TEST(ResourceName, is_that_of_its_stage_unless_it_is_shared) {
  EXPECT_THAT(names_of_first<Resource>(int(Resource::write) + 1),
              ElementsAre("cores", "GPU", "disk", "source", "load", "batch", "compute", "write"));
  EXPECT_EQ(stage_of(Resource::disk), std::nullopt);
  for (int i = 0; i < kStageCount; ++i) EXPECT_EQ(stage_of(resource_of(Stage(i))), Stage(i));
}

/// Checks that the values have these printed names in this order, and that each is parsed.
template <class Enum>
void expect_names(std::string_view list) {
  EXPECT_EQ(list_names<Enum>(), list);
  for (const Enum value : enum_values<Enum>())
    EXPECT_EQ(parse_enum<Enum>(to_string(value)), value) << to_string(value);
  EXPECT_EQ(parse_enum<Enum>("other"), std::nullopt);
}

TEST(EnumName, is_that_of_its_value) {
  EXPECT_EQ(to_string(ColorMode::luma), "luma");
  EXPECT_EQ(to_string(ColorMode::joint), "joint");
  EXPECT_EQ(to_string(FactorType::float16), "float16");
  EXPECT_EQ(to_string(OutputFormat::jpeg), "jpeg");
  EXPECT_EQ(to_string(OutputFormat::tiff), "tiff");
  EXPECT_EQ(to_string(AlphaPolicy::white), "white");
  EXPECT_EQ(to_string(PngCompression::small), "small");
  EXPECT_EQ(to_string(JpegSubsampling::k422), "4:2:2");
  EXPECT_EQ(to_string(JpegSubsampling::k420), "4:2:0");
  EXPECT_EQ(to_string(MetadataPolicy::icc), "icc");
  EXPECT_EQ(to_string(SolverKind::gesvd), "gesvd");
  EXPECT_EQ(to_string(Certificate::bound), "bound");
  EXPECT_EQ(to_string(CostBackend::cuda), "cuda");
  EXPECT_EQ(to_string(Normalization::minmax), "minmax");
  EXPECT_EQ(to_string(PeakSource::bits_stored), "bits_stored");
  EXPECT_EQ(to_string(Decoder::opencv), "opencv");
  EXPECT_EQ(to_string(OutputFormat(99)), "?");
}

TEST(EnumName, is_parsed_and_listed_in_order) {
  expect_names<ColorMode>("channels, luma, ycbcr, joint, gray");
  expect_names<FactorType>("none, float32, float16");
  expect_names<ImageFormat>("png, jpeg, tiff, webp, pnm, bmp, dicom, npz");
  expect_names<OutputFormat>("png, jpeg, tiff, webp, pnm, none");
  expect_names<AlphaPolicy>("keep, white, fail");
  expect_names<Decoder>("strict, opencv");
  expect_names<PngCompression>("fast, small");
  expect_names<JpegSubsampling>("keep, 4:4:4, 4:2:2, 4:2:0");
  expect_names<MetadataPolicy>("keep, icc, none");
  expect_names<PeakSource>("auto, dtype, range, number, bits_stored");
  expect_names<Normalization>("none, minmax");
  expect_names<ResidualGain>("none, auto, number");
  expect_names<CostBackend>("cpu, cuda");
  expect_names<SolverKind>("auto, gram, subspace, gesvd, gesvdj");
  expect_names<Certificate>("estimate, bound");
}

TEST(EnumName, is_one_of_several) {
  EXPECT_EQ(parse_enum<OutputFormat>("jpg"), OutputFormat::jpeg);
  EXPECT_EQ(parse_enum<OutputFormat>("tif"), OutputFormat::tiff);
  EXPECT_EQ(parse_enum<ImageFormat>("jpg"), std::nullopt);
}

TEST(FileFormat, is_every_output_format_but_none) {
  const std::vector<OutputFormat> formats = file_formats();
  EXPECT_THAT(formats, ElementsAre(OutputFormat::png, OutputFormat::jpeg, OutputFormat::tiff,
                                   OutputFormat::webp, OutputFormat::pnm));
  for (const OutputFormat format : formats)
    EXPECT_EQ(to_string(image_format(format)), to_string(format));
  EXPECT_THROW(image_format(OutputFormat::none), std::logic_error);
}

TEST(FileFormat, is_lossy_if_pixels_may_change) {
  EXPECT_TRUE(is_lossy(OutputFormat::jpeg, {.jpeg_quality = 100}));
  EXPECT_TRUE(is_lossy(OutputFormat::webp, {.webp_quality = 100}));
  EXPECT_FALSE(is_lossy(OutputFormat::webp, {}));
  for (const OutputFormat format : {OutputFormat::png, OutputFormat::tiff, OutputFormat::pnm})
    EXPECT_FALSE(is_lossy(format, {.webp_quality = 80})) << to_string(format);
}

TEST(CostTerm, names_its_coefficient) {
  const CostCoefficients costs{
      .batch_s = 1, .sample_s = 2, .flop_s = 3, .vector_s = 4, .cube_s = 5};
  std::vector<std::string> names;
  std::vector<double> values;
  for (const CostTerm& term : kCostTerms) {
    names.emplace_back(term.name);
    values.push_back(costs.*term.coefficient);
  }
  EXPECT_THAT(names, ElementsAre("batch_s", "sample_s", "flop_s", "vector_s", "cube_s"));
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5));
}

TEST(SolverKind, needs_a_certificate_if_it_may_iterate) {
  std::vector<bool> iterative;
  for (const SolverKind kind : enum_values<SolverKind>()) iterative.push_back(is_iterative(kind));
  EXPECT_THAT(iterative, ElementsAre(true, false, true, false, false));
}

TEST(ExitCode, is_that_of_the_documentation) {
  EXPECT_EQ(int(ExitCode::ok), 0);
  EXPECT_EQ(int(ExitCode::some_failed), 3);
  EXPECT_EQ(int(ExitCode::usage), 64);
  EXPECT_EQ(int(ExitCode::nothing_readable), 65);
  EXPECT_EQ(int(ExitCode::no_input), 66);
  EXPECT_EQ(int(ExitCode::unavailable), 69);
  EXPECT_EQ(int(ExitCode::internal), 70);
  EXPECT_EQ(int(ExitCode::cannot_create), 73);
  EXPECT_EQ(int(ExitCode::io_error), 74);
  EXPECT_EQ(int(ExitCode::temporary), 75);
  EXPECT_EQ(int(ExitCode::no_permission), 77);
  EXPECT_EQ(int(ExitCode::configuration), 78);
  EXPECT_EQ(int(ExitCode::hung_up), 129);
  EXPECT_EQ(int(ExitCode::interrupted), 130);
  EXPECT_EQ(int(ExitCode::terminated), 143);
}

TEST(Exception, has_the_code_and_remedy_of_its_kind) {
  EXPECT_EQ(DeviceLostError("the GPU is gone").code(), ExitCode::temporary);
  EXPECT_EQ(EnvironmentError("input/output error").remedy(),
            EnvironmentError::Remedy::manual_repair);
  const EnvironmentError error("no space", EnvironmentError::Remedy::free_disk_space);
  EXPECT_EQ(error.remedy(), EnvironmentError::Remedy::free_disk_space);
  EXPECT_STREQ(error.what(), "no space");
}

}  // namespace
}  // namespace eckart
