// The end of the streams in the container: runs the program, holds its terminal or pipes, and tells
// the outside by frames over its own stdin and stdout.
//
// As the container's first process it reaps what others leave, hands on signals, and takes
// everything with it when the main program ends. As one more process of the container (an exec) it
// is the subreaper of what its program starts; when the outside goes away, all of that is ended.
//
// The environment comes with the first frame: through memory only, in no file, no argument and
// nothing that an engine could be asked for.
#ifndef BERTH_RUNTIME_DOCKER_RELAY_INSIDE_H_
#define BERTH_RUNTIME_DOCKER_RELAY_INSIDE_H_

namespace berth::relay {

// `first`: as the container's first process.
int RunInside(bool first);

}  // namespace berth::relay

#endif  // BERTH_RUNTIME_DOCKER_RELAY_INSIDE_H_
