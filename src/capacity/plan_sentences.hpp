#pragma once

#include <string>
#include <vector>

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// The answers of a plan as plain text, one or a few sentences each; empty if there is nothing to
/// report.
/// Returns the recommendation for a purchase, in one line.
std::string recommendation_sentence(const Plan& plan);
std::string runs_sentence(const Plan& plan);
std::string machine_sentence(const Plan& plan);
std::string work_sentence(const Plan& plan);
std::string bottleneck_sentence(const Plan& plan);
std::string next_bottleneck_sentence(const Plan& plan);
std::string littles_law_sentence(const Plan& plan);
std::string amdahl_sentence(const Plan& plan);
std::string gustafson_sentence(const Plan& plan);
std::string one_more_sentence(const Plan& plan);
std::vector<std::string> target_sentences(const Plan& plan);
std::string peak_sentence(const Plan& plan);
std::string energy_sentence(const Plan& plan);
/// Returns the bottleneck of a row of the rates. If the limit is a setting, it is named as a
/// setting.
std::string bottleneck_phrase(const Prediction& at, const Plan& plan);
/// Returns the limitations of the figures.
std::vector<std::string> notes(const Plan& plan);

}  // namespace eckart::capacity
