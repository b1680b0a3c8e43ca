#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/picture.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Returns the texts that tell what an output is: the program, the rank as it was asked for, the
/// rank of each channel, and its smallest singular value that is kept. The same settings give the
/// same texts. Empty if `program` is empty.
std::vector<TextEntry> output_stamp(const WorkItem& item, std::size_t output,
                                    const std::string& program);

}  // namespace eckart::pipeline
