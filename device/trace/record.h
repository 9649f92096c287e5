// SPDX-License-Identifier: Apache-2.0
// What a profiled process writes down while it runs, and where. Files of a PROF_* folder, all numbers as the processor
// has them:
//   host/data/anynpu.texts        texts: a uint32 of the length, then the bytes; the n-th has the number n, 0 is ""
//   host/data/anynpu.calls        CallRecord beside CallRecord
//   host/data/anynpu.marks        MarkRecord beside MarkRecord
//   host/data/anynpu.memory       MemoryRecord beside MemoryRecord
//   host/data/anynpu.graphs       GraphRecord beside GraphRecord
//   host/data/anynpu.groups       GroupRecord beside GroupRecord
//   host/data/anynpu.links        LinkRecord beside LinkRecord
//   device_N/data/anynpu.tasks    TaskRecord beside TaskRecord
// Threads write pieces of these files of their own, so records stand in no order, and one whose `end` is 0 is none: the
// rest of a piece, or what ran when the process died. A process that is killed loses nothing but that.
#pragma once

#include <cstdint>

namespace npu::device::trace {

/// Of this layout; stands in host/info.json.
inline constexpr int kFormat = 1;
inline constexpr const char* kTextFile = "anynpu.texts";
inline constexpr const char* kCallFile = "anynpu.calls";
inline constexpr const char* kTaskFile = "anynpu.tasks";
inline constexpr const char* kMarkFile = "anynpu.marks";
inline constexpr const char* kMemoryFile = "anynpu.memory";
inline constexpr const char* kGraphFile = "anynpu.graphs";
inline constexpr const char* kGroupFile = "anynpu.groups";
inline constexpr const char* kLinkFile = "anynpu.links";

/// Of which part of the chip a task is.
enum class Unit : uint32_t { kNone, kCube, kVector, kMixed, kCollective };

/// What a task moves, and where from and to.
enum class Move : uint32_t { kNone, kFill, kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice };

/// A task of a stream, or an operator inside of one. Times are nanoseconds of CLOCK_MONOTONIC_RAW.
struct TaskRecord {
  int64_t start = 0, end = 0;
  int64_t launched = 0;            ///< when the client's call queued it; 0: unknown
  uint64_t number = 0;             ///< of the task in its stream, of the node in its graph
  uint64_t bytes = 0;              ///< of its inputs and outputs; of a collective, what the rank gives
  int32_t stream = 0, device = 0;  ///< stream 0: a graph, in the thread that asked for it
  uint32_t launcher = 0;           ///< the thread that queued it
  Unit unit = Unit::kNone;
  uint32_t type = 0, name = 0;       ///< texts: the operator's type, the client's name
  uint32_t inputs = 0, outputs = 0;  ///< texts: shapes|types|formats, as tables show them
  uint32_t graph = 0;                ///< text: the graph it is a node of, the communicator of a collective
  uint32_t step = 0;                 ///< of that graph; the number of a collective, the same on all ranks
  int64_t waited = 0;                ///< nanoseconds, of a collective: for other ranks
  uint32_t call = 0;                 ///< the call that queued it, as CallRecord::number; 0: unknown
  Move move = Move::kNone;
};
static_assert(sizeof(TaskRecord) == 96);

/// Where and when a task was queued; zero when that was not recorded.
struct Launch {
  int64_t time = 0;
  uint32_t thread = 0;
  uint32_t call = 0;
};

/// How near to the client a call is.
enum class Level : uint32_t {
  kRuntime,    ///< acl…, Hccl…
  kOperator,   ///< phase 2 of an aclnn function
  kWorkspace,  ///< its phase 1, which is called …GetWorkspaceSize
};

/// A call of a thread of the host.
struct CallRecord {
  int64_t start = 0, end = 0;
  uint32_t thread = 0;
  uint32_t name = 0;  ///< text
  Level level = Level::kRuntime;
  uint32_t number = 0;  ///< of the call; wraps
};
static_assert(sizeof(CallRecord) == 32);

/// How the client marked it: a moment (start and end are equal), a range, one that ends in the thread and the order in
/// which it began, a step of training.
enum class Mark : uint32_t { kMoment, kRange, kNested, kStep };

/// What the client marked: when it called, or when the stream came to it.
struct MarkRecord {
  int64_t start = 0, end = 0;
  uint64_t number = 0;  ///< the same of a mark of the host and of its stream
  uint32_t thread = 0;  ///< that called, of its end where two did
  uint32_t text = 0, domain = 0;
  int32_t device = -1, stream = -1;  ///< -1: marked on the host
  Mark kind = Mark::kMoment;
  uint32_t reserved[4] = {};
};
static_assert(sizeof(MarkRecord) == 64);

/// Memory of a device that was allocated or freed.
struct MemoryRecord {
  int64_t start = 0, end = 0;
  uint64_t address = 0, bytes = 0;
  uint64_t used = 0;  ///< of the device, afterwards
  int32_t device = 0;
  uint32_t thread = 0, call = 0;
  bool is_free = false;
  uint8_t reserved[11] = {};
};
static_assert(sizeof(MemoryRecord) == 64);

/// What the host does for a graph beside running it on the device: passes rewrite it when it is met, a plan is made for
/// arguments of certain types and shapes, and the client computes nodes that the device has not.
enum class HostWork : uint32_t { kPasses, kPlan, kNode };

/// Why passes or a plan were needed.
enum class Need : uint32_t {
  kNone,    ///< of a node
  kFirst,   ///< nobody has met it before
  kAnew,    ///< the client has handed over a function of this name before
  kShapes,  ///< arguments of other types or shapes
  kValues,  ///< an argument whose elements decide about shapes has others
};

/// Such work, in a thread of the host.
struct GraphRecord {
  int64_t start = 0, end = 0;
  uint64_t bytes = 0;  ///< of a node: what crossed over, in and out
  uint32_t thread = 0;
  HostWork work = HostWork::kPasses;
  Need need = Need::kNone;
  uint32_t graph = 0;           ///< text: the function, or the one that the node stands in
  uint32_t name = 0, type = 0;  ///< texts: a node's
  uint32_t reason = 0;          ///< text: what is new about the function or its arguments; why it is not the device's
  int32_t device = 0;
  uint32_t reserved[2] = {};
};
static_assert(sizeof(GraphRecord) == 64);

/// A communicator that this process is a rank of. It was made at `start`, which is `end`, maybe before the recording.
struct GroupRecord {
  int64_t start = 0, end = 0;
  uint32_t name = 0;     ///< text
  uint32_t members = 0;  ///< text: what tells each rank from all others, "host/process/device,…", by rank
  uint32_t rank = 0, size = 0;
  int32_t device = 0;
  uint32_t reserved[7] = {};
};
static_assert(sizeof(GroupRecord) == 64);

/// What this rank carried from one rank to another in a collective or with messages, whether by reading or by writing:
/// each byte is told by one of the two. Its times are inside of the task's.
struct LinkRecord {
  int64_t start = 0, end = 0;
  uint64_t bytes = 0, pieces = 0;
  uint32_t from = 0, to = 0;  ///< ranks of the communicator; equal: what it has read of its own part
  uint32_t group = 0;         ///< text: the communicator
  uint32_t number = 0;        ///< of the collective
  int32_t device = 0, stream = 0;
  uint32_t reserved[2] = {};
};
static_assert(sizeof(LinkRecord) == 64);

}  // namespace npu::device::trace
