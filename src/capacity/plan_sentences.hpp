#pragma once

#include <string>
#include <vector>

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// The answers of a plan in words, for whoever tells it: plain text, a sentence or a few each;
/// empty where there is nothing to say.
/// What to do about it, in a line, for whoever buys.
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
/// Of a row of the rates; a limit that is a setting is named as one.
std::string bottleneck_phrase(const Prediction& at, const Plan& plan);
/// What to keep in mind with the figures.
std::vector<std::string> notes(const Plan& plan);

}  // namespace eckart::capacity
