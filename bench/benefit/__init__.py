"""Whether a fit helps: speech through the real hearing aid, judged by HASPI and HASQI."""
