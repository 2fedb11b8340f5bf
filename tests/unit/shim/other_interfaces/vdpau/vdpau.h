// Just what CUDA's header for VDPAU needs to know of VDPAU.
#pragma once
typedef unsigned int VdpDevice;
typedef unsigned int VdpVideoSurface;
typedef unsigned int VdpOutputSurface;
typedef int VdpStatus;
typedef unsigned int VdpFuncId;
typedef VdpStatus VdpGetProcAddress(VdpDevice device, VdpFuncId function, void** pointer);
