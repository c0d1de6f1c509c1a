// Placeholder while building.
