"""reader.py -- PROGRAM...: runs a shell of the nav kiosk, and checks by AT-SPI what a screen reader is told."""
import subprocess
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

import navd  # noqa: E402
from navd import operations as op  # noqa: E402

DEADLINE = 60


def nodes(node, depth=0):
    """The node and all below that a person can see, each as (role, name, node)."""
    if node is None or depth > 12:
        return
    yield node.get_role_name(), node.get_name(), node
    for index in range(node.get_child_count()):
        child = node.get_child_at_index(index)
        if child and child.get_state_set().contains(Atspi.StateType.SHOWING):
            yield from nodes(child, depth + 1)


def shown():
    """What shows in all programs, as {(role, name): node}."""
    desktop, found = Atspi.get_desktop(0), {}
    for index in range(desktop.get_child_count()):
        try:
            found.update({(role, name): node for role, name, node in nodes(desktop.get_child_at_index(index))})
        except GLib.Error:
            # A node went while it was read.
            continue
    return found


def until(*wanted, without=()):
    """What shows, once everything wanted is among it and nothing else of these."""
    end = time.monotonic() + DEADLINE
    while True:
        found = shown()
        if all(each in found for each in wanted) and not any(each in found for each in without):
            return found
        if time.monotonic() > end:
            raise SystemExit(f"not within {DEADLINE} s: {wanted} without {without}; there is {sorted(found)}")
        context.iteration(False)
        time.sleep(0.02)


def spoken(event):
    """Notes what gets the focus."""
    if event.detail1 and event.source:
        focused.append(event.source.get_name())


context, focused = GLib.MainContext.default(), []
Atspi.init()
listener = Atspi.EventListener.new(spoken)
listener.register("object:state-changed:focused")
program = subprocess.Popen(sys.argv[sys.argv.index("--") + 1:])
try:
    until(("heading", "Home"), ("panel", "Home"))
    with navd.connect(name="reader") as client:
        client.perform("kiosk", [op.push(navd.ScreenDescription(
            id="wifi", title="Wi-Fi", item=navd.ItemDescription(
                right_items=[navd.ButtonDescription(id="scan", title="Scan", action="scan", accessibility_hint="Looks for networks"),
                             navd.ButtonDescription(id="join", image="plus", title="Join", accessibility_label="Join a network",
                                                    is_enabled=False, is_selected=True)])))])
        found = until(("heading", "Wi-Fi"), ("panel", "Wi-Fi"), ("push button", "Back to Home"), ("push button", "Scan"),
                      without=[("panel", "Home")])
        scan, join = (until(("push button", name))["push button", name] for name in ("Scan", "Join a network"))
        has = lambda node, state: node.get_state_set().contains(state)  # noqa: E731
        assert has(scan, Atspi.StateType.FOCUSABLE) and scan.get_description() == "Looks for networks"
        assert has(join, Atspi.StateType.CHECKED) and join.get_description() == "unavailable"
        client.perform("kiosk", [op.present({"id": "pin", "title": "PIN"})])
        until(("dialog", "PIN"), ("push button", "Close"), without=[("panel", "Wi-Fi")])
        client.perform("kiosk", [op.dismiss()])
        found = until(("panel", "Wi-Fi"), without=[("dialog", "PIN")])
        # A screen reader presses the button, as a person would.
        found["push button", "Back to Home"].get_action_iface().do_action(0)
        until(("heading", "Home"), ("panel", "Home"), without=[("panel", "Wi-Fi"), ("push button", "Back to Home")])
    print("accessibility: focus went to", focused, flush=True)
finally:
    program.kill()
    program.wait()
