"""`navctl list` in a cluster."""
import contextlib
import json
import threading
import unittest

import zmq

from scene import Scene


class Member:
    """A daemon of a cluster: an address before a real one, which answers some reads itself.

    `answers` has the verb and the members of the answer, by what the client reads.
    """

    def __init__(self, scene, answers):
        self.endpoint, self.behind, self.answers = f"ipc://{scene.daemon.directory / 'member'}", scene.daemon.endpoint, answers
        self.context = zmq.Context()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        self.ready.wait()

    def serve(self):
        front = self.context.socket(zmq.ROUTER)
        front.bind(self.endpoint)
        self.ready.set()
        poller, clients = zmq.Poller(), {}
        poller.register(front, zmq.POLLIN)
        try:
            while True:
                for socket, _ in poller.poll():
                    frames = socket.recv_multipart()
                    if socket is not front:
                        front.send_multipart([next(name for name, its in clients.items() if its is socket), *frames])
                        continue
                    name, verb, body, *rest = frames
                    request = json.loads(body)
                    answer = self.answers.get(request.get("nav") or request.get("what")) if verb == b"nsp1.get" else None
                    if answer:
                        kind, members = answer
                        front.send_multipart([name, kind, json.dumps({"id": request["id"]} | members).encode()])
                        continue
                    if name not in clients:
                        clients[name] = self.context.socket(zmq.DEALER)
                        clients[name].connect(self.behind)
                        poller.register(clients[name], zmq.POLLIN)
                    clients[name].send_multipart([verb, body, *rest])
        except zmq.ContextTerminated:
            for socket in (front, *clients.values()):
                socket.close(0)

    def close(self):
        self.context.term()
        self.thread.join()


class Members(unittest.TestCase):
    def scene(self, nav):
        scene = Scene()
        self.addCleanup(scene.close)
        scene.must("create", nav, "--root", "home")
        return scene

    def test_the_positions_of_all_members_are_shown(self):
        own, other = self.scene("kiosk"), self.scene("panel")
        with contextlib.closing(Member(other, {})) as second:
            cluster = {"member": "a", "shards": 2, "members": [
                {"name": "a", "owned": 1}, {"name": "b", "owned": 1, "endpoint": second.endpoint}]}
            with contextlib.closing(Member(own, {"cluster": (b"nsp1.ok", {"value": cluster})})) as first:
                lines = own.must("--endpoint", first.endpoint, "list").splitlines()
        self.assertEqual(
            dict(line.split()[0:4:3] for line in lines[1:]), {"kiosk": "home", "panel": "home"}, lines)

    def test_a_member_that_is_away_is_named_once(self):
        own = self.scene("kiosk")
        cluster = {"member": "a", "shards": 2, "members": [
            {"name": "a", "owned": 1},
            {"name": "b", "owned": 1, "endpoint": f"ipc://{own.daemon.directory.path}/none"}]}
        with contextlib.closing(Member(own, {"cluster": (b"nsp1.ok", {"value": cluster})})) as first:
            result = own.navctl("--endpoint", first.endpoint, "list")
        self.assertEqual(result.status, 0)
        self.assertEqual([line.split(":")[1] for line in result.errors.splitlines()[:1]], [" the navs of b are missing"])
        self.assertEqual(result.errors.count("are missing"), 1, result.errors)
        self.assertEqual([line.split()[3] for line in result.output.splitlines()[1:]], ["home"])


if __name__ == "__main__":
    unittest.main()
