#!/usr/bin/env bash
# libzmq 4.3.5, as pyzmq 26.2.0 bundles it: a DEALER with ZMQ_IMMEDIATE, or with a ZMQ_RECONNECT_IVL of -1, drops what has
# come and was not read as soon as it learns that the connection has ended. Without either, all of it can be read.
#
# zmq_setsockopt(3) says of ZMQ_IMMEDIATE only that messages are queued for completed connections, and of -1 only
# that it does not reconnect. Both also end the pipe from the connection to the socket at once, instead of behind its last
# message. So a last word like "goodbye" arrives or not, by how soon the receiver reads. A long interval also never
# reconnects, and keeps what came.
#
# Seen: neither 20 of 20; immediate 0 of 20; interval -1 0 of 20; interval of a day 20 of 20
#
# Needs python3 with venv and the Python package index. Ends with 1 if the behaviour has changed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pyzmq==26.2.0
cat >program.py <<'PROGRAM'
import subprocess
import sys
import time

import zmq

SERVER = """
import sys, zmq
router = zmq.Context().socket(zmq.ROUTER)
router.bind(sys.argv[1])
print("bound", flush=True)
name = router.recv_multipart()[0]
for number in range(20):
    router.send_multipart([name, b"%d" % number])
sys.stdin.read()
"""


def read_after_the_end(number, **options):
    endpoint = f"ipc://{sys.argv[1]}/{number}"
    server = subprocess.Popen([sys.executable, "-c", SERVER, endpoint], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.stdout.readline()
    dealer = zmq.Context.instance().socket(zmq.DEALER)
    dealer.linger = 0
    for name, value in options.items():
        dealer.setsockopt(getattr(zmq, name), value)
    monitor = dealer.get_monitor_socket(zmq.EVENT_DISCONNECTED)
    dealer.connect(endpoint)
    dealer.send(b"hello")
    # All 20 have long come when the server ends, and the end is known before the first one is read.
    time.sleep(2)
    server.communicate(b"")
    monitor.poll()
    time.sleep(1)
    count = 0
    while dealer.poll(200):
        dealer.recv()
        count += 1
    return f"{count} of 20"


print("libzmq", zmq.zmq_version())
print("neither", read_after_the_end(1))
print("immediate", read_after_the_end(2, IMMEDIATE=1))
print("interval -1", read_after_the_end(3, RECONNECT_IVL=-1))
print("interval of a day", read_after_the_end(4, RECONNECT_IVL=86_400_000))
PROGRAM
venv/bin/python program.py "$directory" | tee output
diff - output <<'SEEN'
libzmq 4.3.5
neither 20 of 20
immediate 0 of 20
interval -1 0 of 20
interval of a day 20 of 20
SEEN
