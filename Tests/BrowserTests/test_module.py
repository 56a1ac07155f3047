"""The JavaScript client where no real gateway brings it: page/claims.js runs claims with a gateway in the page."""
import os
import re
import unittest

from harness import HERE, MODULE, Daemon, Gateway
from pages import PageTest, browser

PAGE = os.path.join(HERE, "page")


def setUpModule():
    global daemon
    daemon = Daemon()
    unittest.addModuleCleanup(daemon.close)
    PageTest.gateway = Gateway(daemon, page=PAGE, module=MODULE)
    unittest.addModuleCleanup(PageTest.gateway.close)
    PageTest.driver = browser()
    unittest.addModuleCleanup(PageTest.driver.quit)


class Module(PageTest):
    maxDiff = None

    def test_each_claim_holds(self):
        count = 0
        for name in ("module.js", "requests.js", "cluster.js"):
            with open(os.path.join(PAGE, name), encoding="utf-8") as file:
                count += len(re.findall(r'^claims\["', file.read(), re.M))
        result = self.run_script("return runClaims()")
        self.assertEqual((result["failed"], result["passed"]), ([], count))


if __name__ == "__main__":
    unittest.main()
