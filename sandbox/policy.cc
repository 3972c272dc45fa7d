#include "sandbox/policy.h"
