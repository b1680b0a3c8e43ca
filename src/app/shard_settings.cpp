#include "app/shard_settings.hpp"

#include <algorithm>
#include <cstddef>

#include "app/shard_files.hpp"
#include "pipeline/settings_change.hpp"

namespace eckart::app {
namespace {

using Texts = std::vector<std::string>;

/// The texts of `a` that `b` does not have.
Texts texts_only_in(const Texts& a, const Texts& b) {
  Texts texts;
  std::ranges::copy_if(a, std::back_inserter(texts), [&](const std::string& text) {
    return std::ranges::find(b, text) == b.end();
  });
  return texts;
}

/// Each of them once, except empty ones.
std::string join(const Texts& texts) {
  Texts joined;
  std::string all;
  for (const std::string& text : texts) {
    if (text.empty() || std::ranges::find(joined, text) != joined.end()) continue;
    joined.push_back(text);
    all += (all.empty() ? "" : "; ") + text;
  }
  return all;
}

std::string difference(const Texts& before, const Texts& now) {
  const Texts removed = texts_only_in(before, now), added = texts_only_in(now, before);
  const std::size_t changed = std::min(removed.size(), added.size());
  Texts differences;
  for (std::size_t i = 0; i < changed; ++i)
    differences.push_back(pipeline::settings_difference(removed[i], added[i]));
  for (std::size_t i = changed; i < removed.size(); ++i)
    differences.push_back("without output: " + removed[i]);
  for (std::size_t i = changed; i < added.size(); ++i)
    differences.push_back("with output: " + added[i]);
  return join(differences);
}

}  // namespace

std::string shard_settings_difference(const std::filesystem::path& output, const Texts& settings) {
  if (are_newest_settings(output, settings)) return {};
  const std::vector<Texts> noted = noted_settings(output);
  return noted.empty() ? std::string() : difference(noted.back(), settings);
}

std::string describe_settings_changes(const std::vector<Texts>& noted) {
  Texts changes;
  for (std::size_t i = 1; i < noted.size(); ++i)
    changes.push_back(difference(noted[i - 1], noted[i]));
  return join(changes);
}

}  // namespace eckart::app
