"""Turning a trained student into the 8-bit model that a browser downloads."""
