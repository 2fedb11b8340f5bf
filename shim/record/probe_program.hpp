// Which program is run as the probe.
#pragma once

namespace gpumem {

struct ProbeProgram {
  char path[4096] = "";
};

// GPUMEM_PROBE, or the gpumem that lies beside this library or in ../bin of it. False where there is none.
bool find_probe_program(ProbeProgram& program);

}  // namespace gpumem
