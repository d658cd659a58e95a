"""The box: the parts of it, what they make of full scale and noise, and its circuit."""
