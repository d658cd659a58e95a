"""Sound levels: which digital level gives which hearing level, and how loud it may be."""
