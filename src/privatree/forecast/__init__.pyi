from privatree.forecast._forecast import forecast
from privatree.forecast._result import Expected, Forecast, Loss, TableScores
from privatree.forecast._setting import Setting

__all__ = ["Expected", "Forecast", "Loss", "Setting", "TableScores", "forecast"]
