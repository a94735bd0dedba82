from privatree.learners.boosting._boost import Boosting as Boosting
from privatree.learners.boosting._boost import boost as boost
from privatree.learners.boosting._plan import BoostPlan as BoostPlan
