#pragma once

#include "capacity/plan.hpp"
#include "capacity/table.hpp"

namespace eckart::capacity {

Table options_table(const Plan& plan);
Table rates_table(const Plan& plan);  ///< predictions by cores and GPUs
Table busy_table(const Plan& plan);   ///< the use of each resource
Table nodes_table(const Plan& plan);  ///< the nodes of concurrent runs; empty if there were none

}  // namespace eckart::capacity
