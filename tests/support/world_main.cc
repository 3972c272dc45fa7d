#include "tests/support/world.h"

int main(int argc, char** argv) { return berth::World::Main(argc, argv); }
