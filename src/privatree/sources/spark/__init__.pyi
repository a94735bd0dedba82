from privatree.sources.spark._files import SparkFileSource as SparkFileSource
from privatree.sources.spark._session import spark_session as spark_session
