from privatree.evaluation._counts import ScoreQuery as ScoreQuery
from privatree.evaluation._draws import check_score_epsilon as check_score_epsilon
from privatree.evaluation._plan import score_plan as score_plan
from privatree.evaluation._private_scores import private_scores
from privatree.evaluation._release import release_scores as release_scores
from privatree.evaluation._score import CurvePoint, Score
from privatree.evaluation._scores import PrivateScores

__all__ = ["CurvePoint", "PrivateScores", "Score", "private_scores"]
