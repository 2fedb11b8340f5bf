// Just what CUDA's header for OpenGL needs to know of OpenGL.
#pragma once
typedef unsigned int GLuint;
typedef unsigned int GLenum;
