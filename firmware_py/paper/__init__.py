"""The paper of a session: what a clinic files, as rows of codes and figures, in no language."""
