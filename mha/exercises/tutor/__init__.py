"""The exercises for an assistant that tutors a learner."""
