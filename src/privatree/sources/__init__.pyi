from privatree.sources._arrow_source import ArrowSource
from privatree.sources._csv_source import CsvSource
from privatree.sources._files import DataFile as DataFile
from privatree.sources._files import check_column_type as check_column_type
from privatree.sources._files import trimmed_names as trimmed_names
from privatree.sources._frame_records import FrameRecords as FrameRecords
from privatree.sources._memory_estimate import fits_in_memory as fits_in_memory
from privatree.sources._parquet_source import ParquetSource
from privatree.sources._paths import find_files as find_files
from privatree.sources._paths import is_csv as is_csv
from privatree.sources._paths import is_tab_separated as is_tab_separated
from privatree.sources._paths import partition_values as partition_values
from privatree.sources._reading import open_file as open_file
from privatree.sources._reading import open_files as open_files
from privatree.sources._reading import read_files as read_files
from privatree.sources._reading import read_files_without_schema as read_files_without_schema
from privatree.sources._reading import target_feature as target_feature
from privatree.sources._source import Records as Records
from privatree.sources._source import Source as Source
from privatree.sources.spark._source import SparkSource

__all__ = ["ArrowSource", "CsvSource", "ParquetSource", "SparkSource"]
