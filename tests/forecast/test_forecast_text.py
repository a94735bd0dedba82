import re

import pytest

from privatree.forecast import forecast


@pytest.fixture
def made(trainings):
    return forecast(150, (0.05, 1.0))


def test_it_shows_what_to_expect_and_what_was_measured(made):
    lines = str(made).splitlines()
    assert lines[0] == "What privacy will probably cost: 150 records, 2 classes"
    assert lines[1] == (
        "PrivaTreeClassifier beside scikit-learn's tree of the same depth, without privacy"
    )
    (row,) = [line for line in lines if line.startswith("1 ")]
    assert " ".join(row.split()) == "1 0.056 -0.010 to 0.200 0.112 -0.020 to 0.400"
    start = next(place for place, line in enumerate(lines) if line.startswith("adult"))
    measured = "adult 0.05 0.820 0.220 0.600 0.870 -0.330 1.200"
    assert " ".join(lines[start].split()) == measured
    assert lines[start + 1].split() == ["1", "0.820", "0.790", "0.030", "0.870", "0.810", "0.060"]
    assert any(re.match(r"nursery \(\*\) +0.05 +1.000", line) for line in lines)
    assert any(line.startswith("2 made-up tables") for line in lines)
    assert max(map(len, lines)) <= 88


def test_it_says_that_it_is_a_guide_from_other_data(made):
    text = " ".join(str(made).split())
    assert "This is a guide from other data. It read nothing of yours and costs no epsilon." in text
    assert "(*) Not in the forecast: without privacy, accuracy and AUC are 0.98 or more." in text
    assert "left out" not in text
    assert "name it (majority share)" in text


def test_it_names_the_public_facts(trainings):
    made = forecast(
        150, 1, classes=3, features=7, majority_share=0.6, model="boost", without="adult"
    )
    text = " ".join(str(made).split())
    assert "150 records, 3 classes, the most frequent with 60%, 7 features" in text
    assert "PrivaBoostClassifier beside scikit-learn's boosted trees" in text
    assert "left out: adult: as you asked; breast-w: it has 2 classes;" in text
    assert "name it (majority share)" not in text
    assert "(*)" not in text


def test_json_has_every_figure(made):
    document = made.to_dict()
    assert document["setting"]["epsilons"] == (0.05, 1.0)
    assert document["expected"][1]["accuracy"]["mean"] == made.expected[1].accuracy.mean
    assert len(document["tables"]) == 14
    assert document["tables"][0]["accuracy_lost"] == made.tables[0].accuracy_lost
    assert {row["table"] for row in document["tables"] if not row["counts"]} == {
        "mushroom",
        "nursery",
    }
