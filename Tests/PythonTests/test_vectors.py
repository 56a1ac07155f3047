"""Every vector of Tests/Conformance/vectors.jsonl, and runners that must fail (docs/vectors.md)."""
import collections
import json
import unittest

from setting import text_of
import vector_runner as vectors

LINES = text_of("Tests", "Conformance", "vectors.jsonl").strip("\n").split("\n")


class Vectors(unittest.TestCase):
    def test_every_vector_passes(self):
        count, failed = collections.Counter(), []
        for line in LINES:
            vector = json.loads(line)
            try:
                vectors.run(vector)
                count[vector["kind"]] += 1
            except vectors.Failed as failure:
                failed.append(f"{vector['id']}: {str(failure)[:1000]}")
        self.assertEqual(failed, [])
        self.assertEqual(set(count), vectors.KINDS)
        print(f"{count.total()} of {len(LINES)} vectors pass: {dict(count)}")

    def test_a_kind_that_is_not_known_fails(self):
        with self.assertRaises(vectors.Failed):
            vectors.run({"kind": "other", "nav": "kiosk", "steps": []})

    def test_a_reaction_that_is_not_known_fails(self):
        vector = next(json.loads(line) for line in LINES if '"is":"applied"' in line)
        step = next(step for step in vector["steps"] if step.get("is") == "applied")
        step["is"] = "other"
        with self.assertRaises(vectors.Failed):
            vectors.run(vector)

    def test_a_client_that_is_spoilt_fails(self):
        def shallow(verb, body):
            for change in body.get("ch", []):
                for screen in change.get("ins", []):
                    screen.pop("title", None)
            return body

        def deaf(verb, body):
            return {**body, "ch": []} if verb == "diff" else body

        for spoil in (shallow, deaf):
            with self.subTest(spoil.__name__):
                self.assertGreater(sum(fails(json.loads(line), spoil) for line in LINES), 9)

    def test_a_digest_that_is_wrong_fails(self):
        vector = next(json.loads(line) for line in LINES if '"kind":"digest"' in line)
        self.assertTrue(fails({**vector, "checksum": "00000000"}, lambda verb, body: body))


def fails(vector, spoil):
    try:
        vectors.run(vector, spoil)
    except vectors.Failed:
        return True
    return False


if __name__ == "__main__":
    unittest.main()
