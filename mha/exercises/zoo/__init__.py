"""The bug zoo: real bugs of public code, in five rooms, four from easy to hard and one of positions.

A specimen runs the buggy code and the sound code on the same input. `kinds` has the four ways to ask about one,
`staged` what they are made of, and each room its specimens. To add one, add it to a room, with the report that you have
opened; it takes the next free number and keeps it, whatever room it moves to.
"""
from mha.exercises.zoo import room_1, room_2, room_3, room_4, room_5

SPECIMENS = [specimen for room in (room_1, room_2, room_3, room_4, room_5) for specimen in room.SPECIMENS]
