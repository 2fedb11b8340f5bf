// Just what CUDA's header for EGL needs to know of EGL.
#pragma once
typedef void* EGLImageKHR;
typedef void* EGLStreamKHR;
typedef void* EGLSyncKHR;
typedef int EGLint;
