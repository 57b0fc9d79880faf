"""python -m mha.exercises: see teacher.py."""
import sys

from mha.exercises.classroom.teacher import main

if __name__ == "__main__":
    sys.exit(main())
