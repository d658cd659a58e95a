"""The commands of `gp-pta`: a module or a package each, named as the command."""
