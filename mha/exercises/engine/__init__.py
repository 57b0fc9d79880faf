"""The checker: an exercise, its cases and its mistakes; how an answer is called, looked at and told what is wrong."""
