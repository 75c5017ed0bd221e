"""Reads the rows of a campaign on Spark: python rows_of_a_campaign.py FOLDER"""

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").getOrCreate()
rows = spark.read.parquet(f"{sys.argv[1]}/ranges/*").dropDuplicates(["range"])
rows.groupBy("worker").agg({"cases": "sum", "seconds": "sum"}).show(truncate=False)
