"""Faults in real processes: signals, full disks, lost workers, two writers, few files and little memory."""
