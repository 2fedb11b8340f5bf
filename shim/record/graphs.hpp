// Memory that belongs to a graph, and stream captures, which are graphs in the making; views of graphics resources.
#pragma once

#include <cstdint>

#include "intercept/call.hpp"

namespace gpumem {

struct Session;
struct Block;

// If the stream is being captured, makes a stream-ordered block the memory of the graph that comes of it.
bool join_capture(Session& session, const void* stream, Block& block);

// The graph with this number, or something instantiated from it, has gone: its memory ends with the last of them.
void end_graph_memory(Session& session, const Call& call, std::uint64_t graph_number);

// The view of a graphics resource, which was at this address, or 0, ends.
void end_view(Session& session, const Call& call, const Block& resource);

// A stream, or a context with its streams, has gone, and with it what was being captured there.
void end_capture_on(Session& session, const Call& call, const void* stream);
void end_captures_in(Session& session, const Call& call, std::uint32_t context);

}  // namespace gpumem
