"""What is done to the pixels before a training sees them."""


def scale(images):
    return images
