"""What differs in two records, computed here: the oracle of test_inspector_model.py."""
import json

ABSENT = object()


def members(old, new, path=()):
    """What differs in two records but for their versions, by paths; objects are entered."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return {} if json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True) else {path: (old, new)}
    if not path:
        old, new = ({name: value for name, value in each.items() if name != "ver"} for each in (old, new))
    found = {}
    for key in old.keys() | new.keys():
        one, other = old.get(key, ABSENT), new.get(key, ABSENT)
        if ABSENT in (one, other):
            found[path + (key,)] = tuple(None if each is ABSENT else each for each in (one, other))
        else:
            found |= members(one, other, path + (key,))
    return found


def longest(numbers):
    """How long the longest rising subsequence is, by trying each end."""
    best = []
    for index, number in enumerate(numbers):
        best.append(1 + max((best[at] for at in range(index) if numbers[at] < number), default=0))
    return max(best, default=0)
