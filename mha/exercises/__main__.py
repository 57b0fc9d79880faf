"""python -m mha.exercises: see teacher.py."""
from mha.exercises.teacher import main

main()
