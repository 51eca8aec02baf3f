"""What scores say of systems: comparison, correlation, agreement, power, reusability, bias."""
