// Ranks that are chosen for each image.
#include <map>

#include "tests/cli/cli_fixture.hpp"
#include "text/json.hpp"

namespace eckart::test {
namespace {

class RankChoiceCliTest : public CliTest {
 protected:
  void synthesize(const std::string& format = "png") {
    const ProcessResult result = run({"synth", "-o", "in", "--kind", "texture", "--count", "3",
                                      "--size", "96x128", "--channels", "3", "--format", format});
    ASSERT_EQ(result.code, 0) << result.err;
  }

  /// The lines of a report by the name of the output.
  std::map<std::string, text::Json> report(const std::string& ranks) {
    const ProcessResult result = run({"run", "in", "-o", "out", "--rank", ranks, "--backend", "cpu",
                                      "--report", "report.jsonl", "-q"});
    EXPECT_EQ(result.code, 0) << result.err;
    std::map<std::string, text::Json> lines;
    std::ifstream text(at("report.jsonl"));
    for (std::string line; std::getline(text, line);) {
      const text::Json json = text::Json::parse(line);
      if (json.contains("output"))
        lines[fs::path(json["output"].get<std::string>()).filename()] = json;
    }
    return lines;
  }
};

TEST_F(RankChoiceCliTest, meets_the_target_of_each_output) {
  synthesize();
  const auto lines = report("psnr:30,rmse:12,energy:0.99,10%,gd:sigma=2,full");
  ASSERT_EQ(lines.size(), 18U);
  int outputs = 0;
  for (const auto& [name, line] : lines) {
    if (name.find(".psnr-30.") != name.npos) {
      EXPECT_GE(line["psnr_db"], 30) << name;
      EXPECT_LT(line["psnr_db"], 31) << name;
      ++outputs;
    }
    if (name.find(".rmse-12.") != name.npos) {
      EXPECT_LE(line["rmse"], 12) << name;
      ++outputs;
    }
    if (name.find(".10pct.") != name.npos) {
      EXPECT_EQ(line["rank"], 10) << name;
      ++outputs;
    }
    if (name.find(".full.") != name.npos) {
      EXPECT_EQ(line["rank"], 96) << name;
      ++outputs;
    }
  }
  EXPECT_EQ(outputs, 12);
}

TEST_F(RankChoiceCliTest, expands_a_range) {
  synthesize();
  EXPECT_EQ(report("5:20:5").size(), 12U);
  EXPECT_TRUE(fs::exists(at("out/texture_96x128_0001.k15.png")));
}

TEST_F(RankChoiceCliTest, counts_another_target_as_other_settings) {
  synthesize();
  report("psnr:25");
  const auto before = io::read_file(at("out/texture_96x128_0001.png"), 1);
  const ProcessResult dry =
      run({"run", "in", "-o", "out", "--rank", "psnr:35", "--backend", "cpu", "--dry-run"});
  EXPECT_THAT(dry.out + dry.err, HasSubstr("rank psnr:25 -> psnr:35"));
  EXPECT_EQ(
      run({"run", "in", "-o", "out", "--rank", "psnr:35", "--backend", "cpu", "--reprocess"}).code,
      0);
  EXPECT_NE(io::read_file(at("out/texture_96x128_0001.png"), 1), before);
}

TEST_F(RankChoiceCliTest, warns_once_that_jpeg_noise_is_not_white) {
  synthesize("jpeg");
  const ProcessResult result =
      run({"run", "in", "-o", "out", "--rank", "gd,mp", "--backend", "cpu"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(count_occurrences(result.err, "expects white noise"), 1) << result.err;
}

}  // namespace
}  // namespace eckart::test
