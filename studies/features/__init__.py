"""Study of random Fourier features: power, time and levels where they take the place of blocks."""
