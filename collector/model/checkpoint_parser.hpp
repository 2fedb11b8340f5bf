// The lines of a checkpoint, from object to value. All throw BadLine.
#pragma once

#include "model/checkpoint_records.hpp"
#include "model/fields.hpp"

namespace gpumem {

CheckpointRecord parse_checkpoint(const Fields& in);
SiteRecord parse_site(const Fields& in);
LiveRecord parse_live(const Fields& in);

}  // namespace gpumem
