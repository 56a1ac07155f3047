#pragma once
#include <zmq.h>
#include <errno.h>

/// In libzmq 4.3.4 the name of option 93 is hidden behind its DRAFT header, but the library as
/// Debian builds it accepts and enforces it. The caller checks the return code.
enum { NAVD_ZMQ_ZAP_ENFORCE_DOMAIN = 93 };
