"""How often a classifier keeps its labels when its inputs are sent through a mechanism: theory, exact, simulated."""

from __future__ import annotations

from mechdesign.cli.sent import Drawn
from mechdesign.cli.studies import give
from mechdesign.studies.classifier import ANSWERS as ANSWERS, ClassifierStudy

EXAMPLE = r"""$ echo "import pickle, sklearn.linear_model as linear" > model.py
$ echo "model = linear.LogisticRegression().fit([[0.1], [0.9]], [0, 1])" >> model.py
$ echo "pickle.dump(model, open('model.pkl', 'wb'))" >> model.py
$ python model.py
$ printf 'age\n0.2\n0.7\n' > people.csv
classifier model.pkl --unpickle --data people.csv --eps 2"""


def run(study: ClassifierStudy, sent: Drawn) -> None:
    give(study, sent)
