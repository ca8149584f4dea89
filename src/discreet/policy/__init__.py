"""What ``"auto"`` decides, from public facts alone: questions, mechanisms, penalties, shares."""
