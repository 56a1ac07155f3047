"""Pages behind nginx, HAProxy and Apache, set up as navd-web(8) says, which ask for a password and compress."""
import base64
import hashlib
import os
import re
import shutil
import socket
import subprocess
import unittest

from harness import HERE, MODULE, ROOT, TOKENS, Daemon, Directory, Gateway, eventually
from pages import PageTest, browser, console

PAGE = os.path.join(HERE, "page")
PROGRAMS = {"nginx": "/usr/sbin/nginx", "HAProxy": "/usr/sbin/haproxy", "Apache": "/usr/sbin/apache2"}
MODULES = "mpm_event authn_core authn_file authz_core authz_user auth_basic proxy proxy_http filter deflate".split()


def setUpModule():
    if not os.environ.get("NAVD_TEST_LONG"):
        raise unittest.SkipTest("real proxies: only with NAVD_TEST_LONG=1")
    missing = [path for path in PROGRAMS.values() if not os.access(path, os.X_OK)]
    if missing:
        raise unittest.SkipTest(f"missing: {', '.join(missing)}")
    global daemon, directory
    daemon, directory = Daemon(), Directory(0o755)
    PageTest.gateway = Gateway(daemon, page=PAGE, module=MODULE, listen=f"unix:{directory / 'web.sock'}",
                               options=("--allow-host", "kiosk.test"))
    os.chmod(directory / "web.sock", 0o666)
    PageTest.driver = browser(rules="MAP kiosk.test 127.0.0.1")
    for thing in (directory.remove, daemon.close, PageTest.gateway.close, PageTest.driver.quit):
        unittest.addModuleCleanup(thing)


def blocks():
    """The configurations of the section PROXY, by the names of the programs."""
    with open(os.path.join(ROOT, "man", "navd-web.8.scd"), encoding="utf-8") as file:
        section = re.search(r"^# PROXY\n(.*?)^# ", file.read(), re.S | re.M)[1]
    found = re.findall(r"\b(nginx|HAProxy|Apache):\n\n```\n(.*?)^```$", section, re.S | re.M)
    return {name: text.replace("/run/navd-web.sock", directory / "web.sock") for name, text in found}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Proxies(PageTest):
    # The page is not on loopback by its name, and comes by HTTP.
    noise = ("401", "403", "Cross-Origin-Opener-Policy")

    def setUp(self):
        # The gateway has no port of its own.
        console(self.driver)
        self.directory = Directory(0o755)
        self.addCleanup(self.directory.remove)

    def start(self, name, block):
        """Runs a proxy; returns its host."""
        port, own = free_port(), self.directory
        run = {"nginx": self.nginx, "HAProxy": self.haproxy, "Apache": self.apache}[name](port, block)
        with open(own / "proxy.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([PROGRAMS[name], *run], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def end():
            process.terminate()
            process.wait()
        self.addCleanup(end)

        def is_there():
            with open(own / "proxy.log", encoding="utf-8") as said:
                self.assertIsNone(process.poll(), said.read())
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        eventually(name, is_there)
        return f"kiosk.test:{port}"

    def nginx(self, port, block):
        own = self.directory
        temporary = "".join(f"{kind}_temp_path {own / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        users = own.write("users", "reader:{PLAIN}secret\n", 0o644)
        return ["-e", own / "nginx.err", "-c", own.write("nginx.conf", (
            f"daemon off; pid {own / 'nginx.pid'}; events {{}}\nhttp {{ access_log off; gzip on; gzip_types *; {temporary}\n"
            f"server {{ listen 127.0.0.1:{port}; auth_basic kiosk; auth_basic_user_file {users};\n{block}}} }}\n"))]

    def haproxy(self, port, block):
        return ["-db", "-f", self.directory.write("haproxy.cfg", (
            "defaults\n  mode http\n  timeout connect 5s\n  timeout client 1h\n"
            "userlist readers\n  user reader insecure-password secret\n"
            f"frontend pages\n  bind 127.0.0.1:{port}\n  compression algo gzip\n"
            "  http-request auth realm kiosk unless { http_auth(readers) }\n"
            f"  default_backend kiosk\n{block}"))]

    def apache(self, port, block):
        own = self.directory
        digest = base64.b64encode(hashlib.sha1(b"secret").digest()).decode()
        users = own.write("users", f"reader:{{SHA}}{digest}\n", 0o644)
        loads = "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in MODULES)
        account = "User www-data\nGroup www-data\n" if os.geteuid() == 0 else ""
        return ["-DFOREGROUND", "-f", own.write("apache.conf", (
            f"{loads}{account}ServerName kiosk.test\nListen 127.0.0.1:{port}\nPidFile {own / 'apache.pid'}\n"
            f"DefaultRuntimeDir {own.path}\nErrorLog {own / 'apache.err'}\n<Location />\nAuthType Basic\nAuthName kiosk\n"
            f"AuthUserFile {users}\nRequire valid-user\nSetOutputFilter DEFLATE\n</Location>\n{block}"))]

    def test_a_page_lives_behind_each_proxy_of_the_manual(self):
        found = blocks()
        self.assertEqual(set(found), set(PROGRAMS))
        for name, block in found.items():
            with self.subTest(name):
                host = self.start(name, block)
                self.open(f"http://reader:secret@{host}/")
                shown = self.run_script("""
                    const probe = await fetch(`${location.origin}/nsp1/stream`, { headers: { "NSP-Token": given[0] } });
                    await probe.body.cancel();
                    const client = await NavigationClient.connect({ token: given[0] });
                    await client.perform(given[1], [{ "nav.create": { root: { id: "home" } } }, { attach: {} }]);
                    const states = client.watch(given[1]), shown = [(await states.next()).value.rev];
                    for (const id of ["a", "b", "c"]) {
                      // Each change comes before the next one is made: nobody collects them.
                      await client.perform(given[1], [{ push: { screen: { id } } }]);
                      shown.push((await states.next()).value.rev);
                    }
                    await client.close();
                    return [shown, probe.headers.get("content-encoding")];""", TOKENS["boss"], f"behind-{name.lower()}")
                # Only HAProxy keeps back what it compresses, and it heeds `no-transform`.
                self.assertEqual(shown, [[1, 2, 3, 4], None if name == "HAProxy" else "gzip"])

    def test_a_proxy_that_changes_host_is_named_to_the_page_and_once_in_the_log(self):
        block = blocks()["nginx"]
        self.assertIn("$http_host", block)
        host = self.start("nginx", block.replace("$http_host", "$host"))
        self.open(f"http://reader:secret@{host}/")
        message = self.run_script(
            "return (await NavigationClient.connect({ token: given[0] }).catch((error) => error)).message", TOKENS["boss"])
        log = [line for line in self.gateway.process.log().splitlines() if "was refused" in line]
        self.assertEqual(len(log), 1, log)
        for text in (message, log[0]):
            self.assertIn(f"Origin is http://{host}, Host is kiosk.test;", text)
        self.assertIn("HTTP 403", message)
        for _ in range(3):
            done = subprocess.run(["curl", "-s", "-u", "reader:secret", "-H", "Host: other.test", f"http://127.0.0.1:{host[11:]}/"],
                                  capture_output=True, text=True, check=True)
            self.assertIn("Host is other.test", done.stdout)
        log = [line for line in self.gateway.process.log().splitlines() if "other.test" in line]
        self.assertEqual(len(log), 1, log)


if __name__ == "__main__":
    unittest.main()
