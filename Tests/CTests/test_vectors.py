"""Every vector of docs/vectors.md, through libnavd."""
import collections
import concurrent.futures
import copy
import json
import os
import shutil
import tempfile
import unittest

import vectors
from navdlib import ROOT

FILE = os.path.join(ROOT, "Tests", "Conformance", "vectors.jsonl")


def load():
    with open(FILE, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class VectorTests(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="nc-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def failure(self, number, vector):
        """Why a vector fails; None if it passes."""
        try:
            vectors.run(vector, self.directory, number)
        except Exception as error:
            return f"{vector['id']}: {error!r}"[:2000]
        return None

    def test_every_vector_passes(self):
        all_vectors = load()
        # Those that lose connections or repeat faults wait for most of their time, so they run beside the others.
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            failures = list(filter(None, pool.map(self.failure, range(len(all_vectors)), all_vectors)))
        kinds = collections.Counter(vector["kind"] for vector in all_vectors)
        print(f"vectors: {len(all_vectors) - len(failures)} of {len(all_vectors)} passed, {dict(kinds)}", flush=True)
        self.assertEqual(failures, [])
        self.assertGreater(len(all_vectors), 300)
        self.assertEqual(set(kinds), vectors.KINDS)

    def test_a_spoilt_vector_fails(self):
        by_id = {vector["id"]: vector for vector in load()}
        for name, spoil in (("C-008", self.spoil_state), ("C-008", self.spoil_reaction), ("W-02", self.spoil_mirror),
                            ("C-007", self.spoil_refusal)):
            vector = copy.deepcopy(by_id[name])
            spoil(vector["steps"])
            self.assertIsNone(self.failure(0, by_id[name]))
            self.assertIsNotNone(self.failure(0, vector), (name, spoil))
        self.assertIsNotNone(self.failure(0, {**by_id["C-007"], "kind": "new"}))

    @staticmethod
    def spoil_state(steps):
        next(step for step in steps if "state" in step)["state"]["screens"].append({"id": "x", "ver": 1})

    @staticmethod
    def spoil_reaction(steps):
        next(step for step in steps if step.get("is") == "applied")["is"] = "ignored"

    @staticmethod
    def spoil_mirror(steps):
        next(step for step in steps if step.get("then"))["then"]["top"] = "another"

    @staticmethod
    def spoil_refusal(steps):
        next(step for step in steps if "refused" in step)["refused"]["code"] = "no-nav"


if __name__ == "__main__":
    unittest.main()
