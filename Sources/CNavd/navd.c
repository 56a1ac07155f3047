// The functions of this header are in Sources/NavdC; this file makes the header a module for them.
#include "navd.h"
