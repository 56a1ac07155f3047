#!/usr/bin/env python3
"""Keep a half-entered payment on the screen: a delegate of a nav. Standard input is the keypad.

A line of digits adds to the amount, `c` clears it, `ok` pays it, `off` ends the program.
"""
import sys
import threading

import navd


class Till:
    """The amount that was entered and not paid yet. Questions come in threads of their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._digits = ""

    def key(self, key: str) -> str:
        with self._lock:
            if key.isdecimal():
                self._digits += key
            elif key == "c":
                self._digits = ""
            elif key == "ok":
                paid, self._digits = self._digits, ""
                return f"paid {paid}"
            return f"entered {self._digits or 'nothing'}"

    def veto(self, question: navd.Question) -> bool:
        """Whether the screen may change. The stack is locked until the answer, so do not wait here."""
        with self._lock:
            leaves = question.screen == "payment" and question.kind in ("shouldPop", "shouldDismiss")
            allowed = not (leaves and self._digits)
        print(f"{question.kind} {question.screen}: {'yes' if allowed else 'no'}", flush=True)
        return allowed


def main(nav: str) -> None:
    till = Till()
    with navd.connect(name="till") as client, client.delegate(nav, veto=till.veto):
        print("the till decides", flush=True)
        for line in sys.stdin:
            if line.strip() == "off":
                break
            print(till.key(line.strip()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2] or ["till"])
