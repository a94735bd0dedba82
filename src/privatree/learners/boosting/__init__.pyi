from privatree.learners.boosting._boost import Boosting as Boosting
from privatree.learners.boosting._boost import boost as boost
from privatree.learners.boosting._boost_number import NumberBoosting as NumberBoosting
from privatree.learners.boosting._number_plan import NumberPlan as NumberPlan
from privatree.learners.boosting._plan import BoostPlan as BoostPlan
