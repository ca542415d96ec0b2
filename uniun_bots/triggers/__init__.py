"""When a Gana wakes: wakeups and the timetable."""
