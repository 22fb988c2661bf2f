"""Publishing: an export, its metadata and its report, copied to a folder or a bucket."""
