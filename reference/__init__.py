"""Clean, fast implementations of the systems, the designs they replace, and the bugs put back in."""
