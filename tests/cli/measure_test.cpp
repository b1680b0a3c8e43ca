// eckart measure: what the images of a folder come to at each rank, without outputs.
#include "tests/cli/cli_fixture.hpp"
#include "text/json.hpp"

namespace eckart::test {
namespace {

class MeasureCliTest : public CliTest {
 protected:
  void synthesize() {
    const ProcessResult result = run({"synth", "-o", "in", "--kind", "texture", "--count", "3",
                                      "--size", "64x96", "--channels", "3"});
    ASSERT_EQ(result.code, 0) << result.err;
  }
};

TEST_F(MeasureCliTest, measures_a_folder_and_writes_only_the_report) {
  synthesize();
  write("in/bad.png", "text");
  const Names inputs = files("in");
  const ProcessResult result = run({"measure", "in", "-k", "5,psnr:30", "--backend", "cpu",
                                    "--json", "--report", "reports/ranks.csv"});
  EXPECT_EQ(result.code, int(ExitCode::cannot_create)) << result.err;  // no such folder
  fs::create_directory(at("reports"));
  const ProcessResult measured = run({"measure", "in", "-k", "5,psnr:30", "--backend", "cpu",
                                      "--json", "--report", "reports/ranks.csv"});
  ASSERT_EQ(measured.code, int(ExitCode::some_failed)) << measured.err;
  const auto json = text::Json::parse(measured.out);
  EXPECT_EQ(json["done"], 3);
  EXPECT_EQ(json["failed"], 1);
  ASSERT_EQ(json["ranks"].size(), 2U);
  EXPECT_EQ(json["ranks"][0]["rank"]["mean"], 5);
  EXPECT_GE(json["ranks"][1]["psnr_db"]["p5"], 30);
  EXPECT_LT(json["ranks"][1]["psnr_db"]["p95"], 31);
  EXPECT_GT(json["ranks"][1]["ssim"]["median"], json["ranks"][0]["ssim"]["median"]);
  // Rank 5, once from the reconstructions and once from the singular values.
  EXPECT_EQ(json["spectrum"][2]["rank"], 5);
  EXPECT_NEAR(json["spectrum"][2]["psnr_before_rounding_db"]["mean"],
              json["ranks"][0]["psnr_db"]["mean"], 0.05);
  EXPECT_GE(json["knee"]["median"], 2);
  EXPECT_EQ(files("in"), inputs);
  EXPECT_THAT(files("reports"), ElementsAre("ranks.csv"));
  EXPECT_FALSE(fs::exists(at("in/.eckart")));
}

TEST_F(MeasureCliTest, has_the_spectrum_of_the_matrices_of_a_color_mode) {
  synthesize();
  const auto measured = [&](const char* color) {
    const ProcessResult result =
        run({"measure", "in", "-k", "5", "--backend", "cpu", "--color", color, "--json", "-q"});
    EXPECT_EQ(result.code, 0) << result.err;
    const auto json = text::Json::parse(result.out);
    EXPECT_EQ(json["spectrum"][2]["rank"], 5);
    EXPECT_EQ(json["spectrum"][2]["images"], 3);
    EXPECT_GE(json["knee"]["median"], 2);
    return json;
  };
  const auto luma = measured("luma"), ycbcr = measured("ycbcr");
  EXPECT_NEAR(luma["spectrum"][2]["energy"]["mean"], luma["ranks"][0]["energy"]["mean"], 1e-4);
  EXPECT_NEAR(luma["spectrum"][2]["psnr_before_rounding_db"]["mean"],
              luma["ranks"][0]["psnr_db"]["mean"], 0.05)
      << "all channels change as luma does";
  EXPECT_NEAR(ycbcr["spectrum"][2]["psnr_before_rounding_db"]["mean"],
              ycbcr["ranks"][0]["psnr_db"]["mean"], 0.2)
      << "the squared errors of the three add up to those of the pixels";
}

TEST_F(MeasureCliTest, has_no_spectrum_if_it_is_not_wanted) {
  synthesize();
  const ProcessResult result =
      run({"measure", "in", "-k", "10", "--backend", "cpu", "--without-spectra", "-q"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("99 % need"), HasSubstr("factor bytes"), Not(HasSubstr("knee"))));
  EXPECT_EQ(result.err, "");
}

TEST_F(MeasureCliTest, ignores_the_outputs_of_a_configuration_for_runs) {
  synthesize();
  write("eckart.yaml", "output: {factors: float32, residual: 4}\n");
  const Names before = files("in");
  const ProcessResult result = run({"measure", "in", "-k", "5", "--backend", "cpu", "--config",
                                    "eckart.yaml", "--without-spectra", "-q"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(files("in"), before);
}

TEST_F(MeasureCliTest, takes_ranks_from_settings_and_can_print_nothing_but_records) {
  synthesize();
  const ProcessResult result = run({"measure", "in", "--set", "rank=[7,3]", "--backend", "cpu",
                                    "--without-spectra", "-q", "--report", "-"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(count_occurrences(result.out, "\n"), 6) << result.out;
  EXPECT_EQ(count_occurrences(result.out, "{\"kind\":\"output\""), 6);
  EXPECT_EQ(count_occurrences(result.out, "\"rank_spec\":\"7\""), 3);
  EXPECT_THAT(result.err, HasSubstr("99 % need")) << "for people";
}

}  // namespace
}  // namespace eckart::test
