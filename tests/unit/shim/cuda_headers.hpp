// The toolkit's headers, with every ABI of the driver under its exported name instead of the newest renamed.
// Included once, and preprocessed on its own. cuda_egl_interop.h is left out: it brings
// C++ overloads of the runtime's functions.
// clang-format off: some of CUDA's headers must come after what they need.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaEGL.h>
#include <cudaGL.h>
#include <vdpau/vdpau.h>
#include <cudaVDPAU.h>
#include <cuda_gl_interop.h>
#include <cuda_runtime_api.h>
#include <cuda_vdpau_interop.h>
