"""What may never happen, and did."""


class Violation(BaseException):
    """A broken promise of the device.

    It is no ``Exception``, so that no handler of errors mistakes it for one.
    """
