import copy
import json

import pytest

from privatree import Numeric, PrivaTreeClassifier, PrivaTreeRegressor, Schema, Target
from privatree.errors import ModelFormatError
from privatree.evaluation import PrivateScores, private_scores


@pytest.fixture(scope="module")
def written():
    x = [[place % 10] for place in range(200)]
    schema = Schema({"x": Numeric(0, 10)}, [False, True])
    model = PrivaTreeClassifier(9, max_depth=1, schema=schema, random_state=0)
    y = [row[0] > 5 for row in x]
    return private_scores(model.fit(x, y), x, y, epsilon=5, random_state=0).to_dict()


@pytest.fixture(scope="module")
def written_number():
    x = [[place % 10] for place in range(200)]
    schema = Schema({"x": Numeric(0, 10)}, target=Target(0, 1000))
    model = PrivaTreeRegressor(9, max_depth=1, schema=schema, random_state=0)
    y = [2.0 * row[0] for row in x]
    return private_scores(model.fit(x, y), x, y, epsilon=5, random_state=0).to_dict()


def changed(written, *path, to):
    copied = copy.deepcopy(written)
    place = copied
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return copied


def test_what_was_written_is_read(written, written_number):
    for one in (written, written_number):
        again = PrivateScores.from_dict(json.loads(json.dumps(one)))
        assert again.to_dict() == one
    assert PrivateScores.from_dict(written_number).error_limit is not None


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (["format"], "privatree-model", "format"),
        (["version"], 2, "Upgrade privatree"),
        (["version"], 0, "at least 1"),
        (["neighbours"], "all", "neighbours"),
        (["epsilon"], 0, "above 0"),
        (["epsilon"], 4.9, "sum of the epsilons spent"),
        (["epsilon"], "infinity", "number"),
        (["unit"], 3, "text or null"),
        (["extra"], 3, "unknown key"),
        (["classes"], [False, None], "labels"),
        (["classes"], [0, 1], "one of the classes"),
        (["confusion"], [[1.0]], "row and a column"),
        (["confusion", 0, 0], None, "finite number"),
        (["noisy_size"], True, "finite number"),
        (["size_error"], -1, ">= 0"),
        (["scores", 0, "name"], "score", "name of a metric"),
        (["scores", 0, "value"], 2, "in its interval"),
        (["scores", 0, "high"], 1.5, "between 0 and 1"),
        (["scores", 0, "of_class"], 1, "one of the classes"),
        (["scores", 0], [], "JSON object"),
        (["target_limits"], [3, 2], "in order"),
        (["target_limits"], [3], "two numbers"),
        (["error_limit"], "1", "finite number"),
        (["calibration", 0, "points", 0, "predicted"], 2, "between 0 and 1"),
        (["calibration", 0, "of_class"], "x", "one of the classes"),
        (["scores"], [{}] * 10_001, "at most 10000"),
        (["assumptions"], ["rows are lines", 3], "texts"),
    ],
)
def test_a_file_that_was_changed_is_refused(written, path, to, message):
    with pytest.raises(ModelFormatError, match=message):
        PrivateScores.from_dict(changed(written, *path, to=to))


@pytest.mark.parametrize("wrong", [None, [], "scores", {}])
def test_something_else_is_refused(wrong):
    with pytest.raises(ModelFormatError, match="privatree-scores"):
        PrivateScores.from_dict(wrong)
