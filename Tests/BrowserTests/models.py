"""A page of page/inspector_model.js, which esbuild makes: the model of the inspector's page, without navd behind it."""
import os
import subprocess
import unittest

from harness import HERE, Daemon, Directory, Gateway
from pages import PageTest, browser

NAV = "team/kiosk"


def open_model():
    """Opens it for the tests of a module; to be called by setUpModule."""
    page, daemon = Directory(), Daemon()
    unittest.addModuleCleanup(page.remove)
    unittest.addModuleCleanup(daemon.close)
    subprocess.run(["esbuild", os.path.join(HERE, "page", "inspector_model.js"), "--bundle", "--format=iife", "--log-level=warning",
                    f"--outfile={page / 'model.js'}"], check=True)
    page.write("index.html", '<!DOCTYPE html><meta charset="utf-8"><title>model</title><link rel="icon" href="data:,">'
                             '<script src="model.js"></script>', 0o644)
    PageTest.gateway = Gateway(daemon, page=page.path)
    unittest.addModuleCleanup(PageTest.gateway.close)
    PageTest.driver = browser()
    unittest.addModuleCleanup(PageTest.driver.quit)


class Unblocked(PageTest):
    """Long work leaves frames to the page. How long a task lasts is measured by `make bench-inspector`."""

    def unblocked(self, found):
        self.assertGreater(found.pop("frames"), 1)
        return found
