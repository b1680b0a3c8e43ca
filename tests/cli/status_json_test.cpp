// Tests the JSON of `eckart status`.
#include "tests/cli/ledger_fixture.hpp"
#include "text/json.hpp"

namespace eckart::test {
namespace {

class StatusJsonTest : public RunWithLedgerTest {
 protected:
  text::Json status(Names arguments = {"status", "out"}) {
    arguments.emplace_back("--json");
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return text::Json::parse(result.out);
  }
};

TEST_F(StatusJsonTest, counts_what_is_done_failed_and_gone) {
  write("in/bad.png", "text");
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 3);
  fs::remove(at("in/a.png"));
  const text::Json json = status();
  EXPECT_EQ(json["kind"], "status");
  EXPECT_TRUE(json["watch"].is_null());
  EXPECT_EQ(json["output_folder"], "out");
  EXPECT_EQ(json["done"], 3);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["failures"]["not an image"], 1);
  EXPECT_EQ(json["failed_inputs"][0]["input"], at("in/bad.png").native());
  EXPECT_EQ(json["failed_inputs"][0]["reason"], "not an image");
  EXPECT_EQ(json["orphans"][0]["output"], "a.png");
}

TEST_F(StatusJsonTest, says_why_unfinished_images_cannot_be_counted) {
  write("list", "in/a.png\n");
  EXPECT_EQ(run({"run", "--files-from", "list", "-o", "listed", "-k", "2"}).code, 0);
  const text::Json json = status({"status", "listed"});
  EXPECT_TRUE(json["unfinished"].is_null());
  EXPECT_EQ(json["unfinished_error"], "the inputs came from a list");
}

TEST_F(StatusJsonTest, has_an_object_per_watch_of_the_configuration) {
  write("watch.yaml",
        "watches:\n"
        "  - {name: scans, input: " +
            at("in").native() + ", output: " + at("out").native() + "}\n" +
            "  - {name: later, input: " + at("more").native() +
            ", output: " + at("unmade").native() + "}\n");
  const ProcessResult result = run({"status", "--config", "watch.yaml", "--json"});
  EXPECT_EQ(result.code, 0);
  const text::Json json = text::Json::parse(result.out);  // one object: `later` has no ledger yet
  EXPECT_EQ(json["watch"], "scans");
  EXPECT_THAT(result.err, HasSubstr("unmade"));
}

}  // namespace
}  // namespace eckart::test
