"""Tools that read a block without running it; each returns its fault, or nothing."""
import functools
import json
import os
import re
import socket
import subprocess

import yaml

from blocks import ROOT, text_of
from reader import BINARIES, DEADLINE, Daemon, Directory
from curve import navctl
from harness import Process

PROGRAMS = ("navd", "navd-cluster", "navd-exporter", "navd-web")
PATH = "/usr/bin:/bin:/usr/sbin:/sbin"


def run(*command, text=None, path=PATH, **environment):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=DEADLINE,
                          env={"PATH": path, "HOME": "/tmp", "LC_ALL": "C.UTF-8", **environment})
    return "" if done.returncode == 0 else (done.stdout + done.stderr) or f"status {done.returncode}"


def in_file(name, text, *command, **environment):
    directory = Directory()
    try:
        return run(*command, directory.write(name, text), **environment)
    finally:
        directory.remove()


_helps = {}


def help_of(program):
    if program not in _helps:
        _helps[program] = text_of("systemd", "navd-tcp") if program == "navd-tcp" else subprocess.run(
            [os.path.join(BINARIES, program), "--help"], capture_output=True, text=True, timeout=DEADLINE, check=True,
            env={"PATH": PATH, "HOME": "/tmp"}).stdout
    return _helps[program]


def shell(text):
    """The form, the options of our programs, our units, and the targets of the Makefile."""
    fault = run("bash", "-n", text=text)
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.M))
    for line in text.replace("\\\n", " ").splitlines():
        line = line.split(" # ")[0]
        for program, rest in re.findall(r"(?:^|[ /(])(navd(?:-[a-z]+)?) ([^|;&)]*)", line):
            if program in (*PROGRAMS, "navd-tcp"):
                words = re.findall(r"(?<!\S)--[a-z][a-z-]+", rest) if program != "navd-tcp" else rest.split()[:1]
                fault += "".join(f"{program} has no {word}\n" for word in words if word not in help_of(program))
        if "systemctl" in line:
            for unit in re.findall(r"\bnavd(?:-[a-z]+)?(?:\.\w+)?(?=\s|$)", line.split("systemctl", 1)[1]):
                name = unit if "." in unit else f"{unit}.service"
                folder = "systemd/user" if "--user" in line else "systemd"
                if not os.path.exists(os.path.join(ROOT, folder, name)):
                    fault += f"there is no unit {name}\n"
        for word in re.findall(r"(?:^|&& )make ([a-z-]+)", line):
            fault += "" if word in targets else f"the Makefile has no target {word}\n"
    return fault


def configuration(text):
    """A unit, or a configuration of navd or of navd-cluster."""
    if re.search(r"^\[(Unit|Service)\]", text, re.M):
        return in_file("page.service", text, "systemd-analyze", "verify", "--man=no")
    if "[Socket]" in text:
        # A drop-in of our socket; the service behind it is not installed here.
        directory = Directory()
        try:
            directory.write("navd-web.service", "[Service]\nExecStart=/bin/true\n")
            unit = directory.write("navd-web.socket", text_of("systemd", "navd-web.socket") + text)
            return run("systemd-analyze", "verify", "--man=no", unit)
        finally:
            directory.remove()
    program = "navd-cluster" if "[cluster]" in text else "navd"
    text = re.sub(r"^(socket-group = )kiosk$", r"\1root", text, flags=re.M)
    # The key is in no page: each machine has its own.
    directory = Directory()
    try:
        navctl("key", "new", directory / "navd.key")
        return in_file("navd.conf", text, os.path.join(BINARIES, program), "--check-config", "--config",
                       CREDENTIALS_DIRECTORY=str(directory.path))
    finally:
        directory.remove()


def data(text):
    try:
        for line in text.splitlines():
            json.loads(line)
    except ValueError as error:
        return str(error)
    return ""


def settings(text):
    """YAML. The metrics that it names are those of the exporter."""
    try:
        yaml.safe_load(text)
    except yaml.YAMLError as error:
        return str(error)
    names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\b(navd_\w+)", text)}
    return "".join(f"navd-exporter has no metric {name}\n" for name in sorted(names - metrics()))


def python(text):
    return in_file("page.py", text, "mypy", "--strict", "--cache-dir", os.path.join(ROOT, ".build", "mypy"),
                   MYPYPATH=os.path.join(ROOT, "python"))


def swift(text):
    # `…` stands for what the page leaves out.
    text = text.replace("…", "")
    return in_file("page.swift", text, "swiftc", "-frontend", "-parse", path=os.environ["PATH"])


@functools.cache
def metrics():
    """The names of the metrics that an exporter serves."""
    daemon = Daemon()
    path = daemon.directory / "metrics"
    exporter = Process([os.path.join(BINARIES, "navd-exporter"), "--endpoint", daemon.endpoint, "--listen", f"unix:{path}"],
                       daemon.directory / "exporter.log")
    try:
        exporter.says("serving on")
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            with client.makefile(encoding="utf-8") as answer:
                return set(re.findall(r"^# TYPE (navd_\w+) ", answer.read(), re.M))
    finally:
        exporter.kill()
        daemon.close()


#: The tool for each language.
TOOLS = {
    "sh": shell, "ini": configuration, "json": data, "yaml": settings, "python": python, "swift": swift,
    "c": lambda text: in_file("page.c", text, "gcc", "-fsyntax-only", "-I", os.path.join(ROOT, "Sources", "CNavd", "include")),
    "js": lambda text: in_file("page.mjs", text, "node", "--check"),
}
