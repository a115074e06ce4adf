"""What everything is said in: inputs, losses, privacy, criteria, classes of mechanisms, and the problem they make."""
